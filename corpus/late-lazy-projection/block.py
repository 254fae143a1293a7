import torch
from torch import nn


class Residual(nn.Module):
    """A residual layer that projects its input when the widths differ."""

    def __init__(self, width: int):
        super().__init__()
        self.width = width
        self.norm = nn.LayerNorm(width)
        self.project = None

    def forward(self, hidden):
        if self.project is None:
            self.project = nn.Linear(hidden.shape[-1], self.width)
        return self.norm(torch.relu(self.project(hidden)))
