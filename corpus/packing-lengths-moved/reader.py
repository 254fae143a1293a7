from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence


class Reader(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.recurrent = nn.LSTM(1, width, batch_first=True)

    def forward(self, values, lengths):
        packed = pack_padded_sequence(values, lengths, batch_first=True, enforce_sorted=False)
        _, (hidden, _) = self.recurrent(packed)
        return hidden[-1]
