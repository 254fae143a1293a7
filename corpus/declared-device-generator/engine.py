"""A small stand-in for a third-party engine that fills GPUs by itself, first GPU first."""
import torch
from torch import nn


class Network(nn.Module):
    def __init__(self, vocabulary: int, width: int):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens):
        return self.head(self.embedding(tokens).mean(dim=1))


def load(vocabulary: int = 11, width: int = 6) -> Network:
    """Load the weights with an automatic split: what fits goes to the first GPU."""
    torch.manual_seed(0)
    network = Network(vocabulary, width)
    return network.to("cuda:0") if torch.cuda.is_available() else network
