import torch
from torch import nn


class CachedAttention(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads, self.head_width = heads, width // heads
        self.query_key_value = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, hidden, past=None):
        batch, length, width = hidden.shape
        split = self.query_key_value(hidden).view(batch, length, 3, self.heads, self.head_width)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        if past is not None:
            past_key, past_value = past.expand(2, batch, self.heads, 0, self.head_width)
            key = torch.cat((past_key, key), dim=2)
            value = torch.cat((past_value, value), dim=2)
        weights = torch.softmax(query @ key.transpose(2, 3) / self.head_width**0.5, dim=-1)
        return self.out((weights @ value).transpose(1, 2).reshape(batch, length, width))
