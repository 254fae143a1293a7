import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.tables = [torch.arange(3.0), torch.arange(4.0)]

    def forward(self, x):
        y = self.layer(x) * self.tables[0]
        z = torch.cat([y, y[:, :1]], dim=1)
        return z + self.tables[1]


torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
net = Net().to(device)
print(net(torch.ones(2, 3).to(device)).shape)
