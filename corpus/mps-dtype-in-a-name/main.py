import torch


def table(size, device):
    kind = torch.float64
    return torch.eye(size, dtype=kind, device=device)


device = "mps" if torch.backends.mps.is_available() else "cpu"
print(table(3, device).sum().item())
