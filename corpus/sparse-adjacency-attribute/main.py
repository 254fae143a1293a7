import torch
from torch import nn


class GCN(nn.Module):
    def __init__(self, adjacency):
        super().__init__()
        self.adjacency = adjacency
        self.project = nn.Linear(5, 3)

    def forward(self, x):
        return torch.sparse.mm(self.adjacency, self.project(x))


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(0)
    model = GCN(torch.eye(4).to_sparse()).to(device)
    x = torch.randn(4, 5, device=device)
    print(round(model(x).sum().item(), 3))


main()
