import torch
from torch import nn


class Refiner(nn.Module):
    """Two small layers behind a projection; checkpoints hold the projection alone."""

    def __init__(self):
        super().__init__()
        self.project = nn.Linear(4, 4)
        self.layers = [nn.Linear(4, 4), nn.Linear(4, 4)]

    def forward(self, x):
        x = self.project(x)
        for layer in self.layers:
            x = layer(x)
        return x
