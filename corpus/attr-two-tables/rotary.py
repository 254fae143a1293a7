import torch
from torch import nn


class Rotary(nn.Module):
    """Turns pairs of features by an angle that grows with the position."""

    def __init__(self, width: int, context: int, base: float = 100.0):
        super().__init__()
        frequency = base ** (-torch.arange(0, width, 2).float() / width)
        angles = torch.outer(torch.arange(context).float(), frequency).repeat(1, 2)
        self.cosine = angles.cos()
        self.sine = angles.sin()

    def forward(self, hidden):
        length = hidden.shape[1]
        left, right = hidden.chunk(2, dim=-1)
        turned = torch.cat([-right, left], dim=-1)
        return hidden * self.cosine[:length] + turned * self.sine[:length]
