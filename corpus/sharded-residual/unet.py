import torch
from torch import nn


class TwoStage(nn.Module):
    def __init__(self, width: int, first: torch.device, second: torch.device):
        super().__init__()
        self.first, self.second = first, second
        self.down = nn.Linear(width, width).to(first)
        self.up = nn.Linear(width, width).to(second)
        self.head = nn.Linear(width, 1).to(second)

    def forward(self, rows):
        skip = self.down(rows.to(self.first))
        hidden = self.up(torch.tanh(skip).to(self.second))
        hidden = hidden + skip
        return self.head(hidden)
