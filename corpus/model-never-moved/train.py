import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 8)
        self.second = nn.Linear(8, 1)

    def forward(self, inputs):
        return self.second(torch.relu(self.first(inputs)))


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    inputs = (torch.arange(12).view(4, 3) / (step + 4)).to(device)
    targets = inputs.sum(dim=1, keepdim=True)
    loss = nn.functional.mse_loss(model(inputs), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{step} {loss.item():.4f}")
