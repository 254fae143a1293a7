"""Two towers, each on a GPU of its own."""

import torch
from torch import nn


class Towers(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.left = nn.Linear(4, width).to("cuda:0")
        self.right = nn.Linear(4, width).to("cuda:1")
        self.vote = nn.Linear(2 * width, 1).to("cuda:0")

    def forward(self, pairs: torch.Tensor) -> torch.Tensor:
        left = self.left(pairs.to("cuda:0")).relu()
        right = self.right(pairs.to("cuda:1")).relu()
        return self.vote(torch.cat([left, right], dim=1))
