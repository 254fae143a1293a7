import torch


class Positions(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(4, 2)
        torch.nn.init.constant_(self.table.weight, 0.25)

    def forward(self, x):
        return x + self.table(torch.arange(x.shape[0]))


device = "mps" if torch.backends.mps.is_available() else "cpu"
print(Positions().to(device)(torch.ones(3, 2, device=device)).sum().item())
