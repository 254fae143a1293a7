"""A classifier of short sequences: what was said, and where it was said."""

import torch
from torch import nn


class Classifier(nn.Module):
    """Embeds tokens and their positions, mixes them, and votes for a class."""

    def __init__(self, vocabulary: int, classes: int, width: int = 16, longest: int = 32):
        super().__init__()
        self.token = nn.Embedding(vocabulary, width)
        self.position = nn.Embedding(longest, width)
        self.mix = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.GELU())
        self.vote = nn.Linear(width, classes)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """ids: (batch, length) token numbers; returns (batch, classes) scores."""
        positions = torch.arange(ids.shape[1])
        hidden = self.token(ids) + self.position(positions)
        return self.vote(self.mix(hidden).mean(dim=1))
