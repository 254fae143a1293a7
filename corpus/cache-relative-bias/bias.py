import torch
from torch import nn


class DistancePenalty(nn.Module):
    """Takes a share of the distance of two positions from their score."""

    def __init__(self, slope: float):
        super().__init__()
        self.slope = slope
        self.length = 0
        self.distance = None

    def forward(self, scores):
        length = scores.shape[-1]
        if length > self.length:
            positions = torch.arange(length)
            self.distance = (positions[:, None] - positions[None]).abs().float()
            self.length = length
        return scores - self.slope * self.distance[:length, :length]
