import numpy as np
import torch


class Buffer:
    def __init__(self, device):
        self.device = device
        self.rewards = []

    def add(self, values):
        self.rewards.append(torch.tensor(np.mean(values), device=self.device))

    def total(self):
        return torch.stack(self.rewards).sum().item()


device = "mps" if torch.backends.mps.is_available() else "cpu"
buffer = Buffer(device)
for values in ([1.0, 2.0], [3.0, 5.0]):
    buffer.add(values)
print(buffer.total())
