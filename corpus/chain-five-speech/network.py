import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence


class Recogniser(nn.Module):
    def __init__(self, inputs: int, width: int, words: int):
        super().__init__()
        self.width = width
        self.recurrent = nn.GRU(inputs, width, batch_first=True)
        self.head = nn.Linear(width, words)

    def forward(self, frames, lengths):
        packed = pack_padded_sequence(frames, lengths, batch_first=True, enforce_sorted=False)
        state = torch.zeros(1, len(frames), self.width)
        _, hidden = self.recurrent(packed, state)
        return self.head(hidden[-1])
