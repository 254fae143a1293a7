import torch
from torch import nn
from torch.nn import functional as F


class Predictor(nn.Module):
    def __init__(self, symbols, width):
        super().__init__()
        self.embed = nn.Embedding(symbols, width)
        self.head = nn.Linear(width, symbols)

    def forward(self, windows, targets=None):
        logits = self.head(torch.tanh(self.embed(windows)))
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))
