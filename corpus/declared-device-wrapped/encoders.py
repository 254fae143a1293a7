from dataclasses import dataclass

import torch

from engine import Runtime


@dataclass
class Scored:
    logits: torch.Tensor
    count: int


class RuntimeEncoder:
    """Runs a compiled model behind the interface that the other encoders have."""

    def __init__(self, runtime: Runtime, device: torch.device):
        self._runtime = runtime
        self._device = device
        self.calls = 0

    @property
    def device(self) -> torch.device:
        return self._device

    def score(self, rows: torch.Tensor) -> Scored:
        self.calls += 1
        logits = self._runtime.execute(rows)
        return Scored(logits=logits, count=rows.shape[0])


class Reranker:
    """What the service talks to: prepares rows, asks the encoder, weighs labels."""

    def __init__(self, encoder: RuntimeEncoder, weights: list[float]):
        self.encoder = encoder
        self.weights = torch.tensor(weights, device=encoder.device)

    def rank(self, rows: torch.Tensor) -> torch.Tensor:
        scored = self.encoder.score(rows)
        weighed = scored.logits * self.weights
        best = torch.zeros(scored.count, device=self.encoder.device)
        return torch.maximum(best, weighed.amax(dim=1)) + scored.logits.mean(dim=1)
