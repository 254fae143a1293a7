import numpy as np
import torch


def boxes(rows, device):
    table = np.array(rows, dtype=float)
    return torch.from_numpy(table).to(device)


device = "mps" if torch.backends.mps.is_available() else "cpu"
found = boxes([[0, 0, 2, 2], [1, 1, 3, 4]], device)
areas = (found[:, 2] - found[:, 0]) * (found[:, 3] - found[:, 1])
print(areas.sum().item())
