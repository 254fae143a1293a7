import torch
from torch import nn


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))

    def forward(self, places, times):
        joined = torch.cat([places, times], dim=1)
        return self.net(joined)


def residual(field, places, times):
    times.requires_grad_(True)
    values = field(places, times)
    (change,) = torch.autograd.grad(values.sum(), times, create_graph=True)
    return (change + values).pow(2).mean()


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
field = Field().to(device)
optimizer = torch.optim.SGD(field.parameters(), lr=0.1)
places = torch.rand(12, 1)
times = torch.rand(12, 1)
for _ in range(2):
    loss = residual(field, places, times)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.3f}")
