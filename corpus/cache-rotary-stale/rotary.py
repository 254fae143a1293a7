import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.width = width
        self.table = None

    def lookup(self, length, device):
        if self.table is None or len(self.table) < length:
            positions = torch.arange(length, device=device).float()
            frequencies = 50.0 ** (-torch.arange(self.width, device=device) / self.width)
            self.table = torch.outer(positions, frequencies).cos()
        return self.table[:length]

    def forward(self, hidden):
        table = self.lookup(hidden.shape[1], hidden.device)
        return hidden * table
