import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, width: int, tags: int):
        super().__init__()
        self.width = width
        self.recurrent = nn.GRU(2, width, batch_first=True)
        self.head = nn.Linear(width, tags)

    def forward(self, values):
        batch = values.shape[0]
        state = torch.zeros(1, batch, self.width)
        hidden, _ = self.recurrent(values, state)
        return self.head(hidden)
