import torch
from torch import nn


class Stack(nn.Module):
    def __init__(self, width: int, depth: int):
        super().__init__()
        self.layers = [nn.Linear(width, width) for _ in range(depth)]
        self.head = nn.Linear(width, 1)

    def forward(self, rows):
        for layer in self.layers:
            rows = torch.relu(layer(rows))
        return self.head(rows)
