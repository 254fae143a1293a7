import torch
from torch import nn


class Translator(nn.Module):
    def __init__(self, vocabulary: int, width: int, context: int):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(context, width)
        self.score = nn.Linear(width, vocabulary)
        self.mask = torch.tril(torch.ones(context, context))

    def forward(self, ids):
        length = ids.shape[1]
        positions = torch.arange(length)
        hidden = self.tokens(ids) + self.positions(positions)
        weights = (hidden @ hidden.mT).masked_fill(self.mask[:length, :length] == 0, -1e9)
        return self.score(weights.softmax(dim=-1) @ hidden)
