import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)

    def forward(self, rows):
        scores = self.linear(rows)
        if hasattr(self, "temperature"):
            scores = scores / self.temperature
        return scores
