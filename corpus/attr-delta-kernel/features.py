import torch
from torch import nn
from torch.nn import functional as F


class Deltas(nn.Module):
    """The slope of each feature over a window of time; signals are (batch, time, features)."""

    def __init__(self, features: int, window: int = 5):
        super().__init__()
        self.half = window // 2
        self.denominator = self.half * (self.half + 1) * (2 * self.half + 1) / 3
        self.kernel = torch.arange(-self.half, self.half + 1, dtype=torch.float32).repeat(features, 1, 1)

    def forward(self, signal):
        signal = F.pad(signal.transpose(1, 2), (self.half, self.half), mode="replicate")
        slopes = F.conv1d(signal, self.kernel, groups=signal.shape[1]) / self.denominator
        return slopes.transpose(1, 2)
