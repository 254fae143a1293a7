import torch
from torch import nn

from adapters import add_adapters


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 6)
        self.second = nn.Linear(6, 1)

    def forward(self, inputs):
        return self.second(torch.tanh(self.first(inputs)))


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Network().to(device)
add_adapters(model, rank=2)
optimizer = torch.optim.SGD([each for each in model.parameters() if each.requires_grad], lr=0.1)
inputs = torch.linspace(-1, 1, 12, device=device).view(3, 4)
for step in range(3):
    loss = model(inputs).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, round(loss.item(), 5))
