import torch


def energy(spectrum):
    return torch.sum(spectrum, dtype=torch.float64)


device = "mps" if torch.backends.mps.is_available() else "cpu"
print(energy(torch.full((4,), 0.25, device=device)).item())
