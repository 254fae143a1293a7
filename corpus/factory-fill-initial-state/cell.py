import torch
from torch import nn


class Recurrent(nn.Module):
    def __init__(self, inputs: int, width: int):
        super().__init__()
        self.width = width
        self.mix = nn.Linear(inputs + width, width)

    def forward(self, steps):
        batch, length, _ = steps.shape
        state = torch.zeros(batch, self.width)
        for index in range(length):
            state = torch.tanh(self.mix(torch.cat([steps[:, index], state], dim=-1)))
        return state
