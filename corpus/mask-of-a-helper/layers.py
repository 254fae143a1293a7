import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, size, dropout):
        super().__init__()
        self.size = size
        self.w = nn.Linear(size, size * 2)
        self.u = nn.Linear(size, size * 2)
        self._init_drop(dropout)

    def forward(self, x):
        w = self.w(x)
        if self.size > 100:
            return self._wide_cell(w)
        return self._cell(w)

    def _cell(self, w):
        hiddens = []
        h = torch.zeros(w.shape[0], self.size, device=w.device)
        drop_mask = self._sample_drop_mask()

        # Loop over time axis
        for k in range(w.shape[1]):
            at, zt = (w[:, k] + self.u(h)).chunk(2, 1)
            hcand = torch.tanh(at) * drop_mask
            h = torch.sigmoid(zt) * h + (1 - torch.sigmoid(zt)) * hcand
            hiddens.append(h)
        return torch.stack(hiddens, 1)

    def _wide_cell(self, w):
        hiddens = []
        h = torch.zeros(w.shape[0], self.size, device=w.device)
        drop_mask = self._sample_drop_mask()

        # Loop over time axis
        for k in range(w.shape[1]):
            at, zt = (w[:, k] + self.u(h)).chunk(2, 1)
            h = torch.sigmoid(zt) * h + torch.tanh(at) * drop_mask
            hiddens.append(h)
        return torch.stack(hiddens, 1)

    def _init_drop(self, dropout):
        self.drop = nn.Dropout(p=dropout)
        self.drop_mask_te = torch.tensor([1.0]).float()
        self.drop_masks = None

    def _sample_drop_mask(self):
        if self.training:
            self.drop_masks = self.drop(torch.ones(self.size, device=self.w.weight.device))
            return self.drop_masks
        return self.drop_mask_te
