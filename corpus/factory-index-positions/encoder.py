import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, vocabulary: int = 20, width: int = 8, context: int = 10):
        super().__init__()
        self.token = nn.Embedding(vocabulary, width)
        self.position = nn.Embedding(context, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, ids):
        positions = torch.arange(ids.size(1))
        return self.norm(self.token(ids) + self.position(positions))
