import torch
from torch import nn


class Language(nn.Module):
    def __init__(self, devices: list[torch.device]):
        super().__init__()
        self.embedding = nn.Embedding(12, 4).to(devices[0])
        self.block = nn.Linear(4, 4).to(devices[-1])

    def forward(self, ids):
        hidden = self.embedding(ids.to(self.embedding.weight.device))
        hidden = torch.tanh(self.block(hidden.to(self.block.weight.device)))
        return hidden @ self.embedding.weight.T
