import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(30, 6)

    @property
    def device(self) -> torch.device:
        return self.embedding.weight.device

    def forward(self, ids):
        return self.embedding(ids).mean(dim=1)


class Sampler:
    """Keeps the encoder on the host until it is needed."""

    def __init__(self, encoder: Encoder, device: torch.device):
        self.encoder, self.device_torch = encoder, device

    def encode(self, ids):
        if self.encoder.device == "cpu":
            self.encoder.to(self.device_torch)
        return self.encoder(ids.to(self.device_torch))
