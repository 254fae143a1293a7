import torch
from torch import nn


class Normaliser(nn.Module):
    """Takes the mean of what it saw from its input."""

    def __init__(self, width: int):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.mean = torch.zeros(width)

    def forward(self, rows):
        return self.linear(rows - self.mean)
