import torch
from torch import nn


class CausalAttention(nn.Module):
    def __init__(self, width: int, context: int):
        super().__init__()
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width, bias=False)
        self.mask = torch.triu(torch.ones(context, context), diagonal=1).bool()

    def forward(self, hidden):
        length = hidden.shape[1]
        query, key, value = self.query(hidden), self.key(hidden), self.value(hidden)
        scores = query @ key.transpose(1, 2)
        scores = scores.masked_fill(self.mask[:length, :length], -torch.inf)
        return torch.softmax(scores / key.shape[-1] ** 0.5, dim=-1) @ value
