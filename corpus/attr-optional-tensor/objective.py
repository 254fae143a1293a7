from typing import Optional

import torch
from torch import nn


class WeightedSum(nn.Module):
    """The weighted sum of the last dimension; the plain sum without weights."""

    def __init__(self, weights: Optional[torch.Tensor] = None):
        super().__init__()
        self.weights = weights

    def forward(self, samples):
        if self.weights is None:
            return samples.sum(dim=-1)
        return samples @ self.weights
