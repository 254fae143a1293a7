import torch
from torch import nn


class Norm(nn.Module):
    """Divides rows by their root mean square, and weighs the columns."""

    def __init__(self, width: int):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, rows):
        return self.weight * rows / rows.square().mean(dim=-1, keepdim=True).sqrt()
