import torch
from torch import nn


class Adapter(nn.Module):
    """A frozen linear layer with a low-rank correction beside it."""

    def __init__(self, inner: nn.Linear, rank: int):
        super().__init__()
        self.inner = inner
        self.down = nn.Linear(inner.in_features, rank, bias=False)
        self.up = nn.Linear(rank, inner.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, hidden):
        return self.inner(hidden) + self.up(self.down(hidden))


def add_adapters(model: nn.Module, rank: int) -> None:
    """Put an adapter around each linear layer directly in the model."""
    for name, layer in list(model.named_children()):
        if isinstance(layer, nn.Linear):
            layer.requires_grad_(False)
            setattr(model, name, Adapter(layer, rank))
