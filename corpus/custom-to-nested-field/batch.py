from dataclasses import dataclass

import torch


@dataclass
class Batch:
    """Rows, their labels and how much each counts."""

    rows: torch.Tensor
    labels: torch.Tensor
    weights: torch.Tensor

    def to(self, device):
        return Batch(self.rows.to(device), self.labels.to(device), self.weights)
