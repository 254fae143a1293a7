"""A small network with a failure."""

from __future__ import annotations

NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(10, 4)
        self.head = nn.Linear(4, 2)
        self.scale = torch.ones(4)
        self.register_buffer("shift", torch.zeros(4))

    def forward(self, ids):
        return self.head(self.embedding(ids))

def main(device):
    net = Net().to(device)
    batch = {"ids": torch.tensor([[1, 2, 3]])}
    return net(batch["ids"])

main(torch.device("cuda"))
"""
