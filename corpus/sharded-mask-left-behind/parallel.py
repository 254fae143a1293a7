import torch
from torch import nn


class Split(nn.Module):
    """A stack of layers spread over devices; hidden states travel from one to the next."""

    def __init__(self, width: int, devices: list[torch.device]):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width).to(device) for device in devices)

    def forward(self, hidden, mask):
        for layer in self.layers:
            hidden = hidden.to(layer.weight.device)
            hidden = torch.relu(layer(hidden))
            hidden = hidden * mask
        return hidden
