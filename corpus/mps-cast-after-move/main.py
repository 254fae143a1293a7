import numpy as np
import torch


def load(array, device):
    return torch.from_numpy(array).to(device).float()


device = "mps" if torch.backends.mps.is_available() else "cpu"
print(load(np.linspace(0.0, 1.0, 5), device).sum().item())
