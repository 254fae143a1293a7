import torch


class Scaler:
    """Brings columns to mean 0 and deviation 1."""

    def __init__(self, rows: torch.Tensor):
        self.mean = rows.mean(dim=0)
        self.deviation = rows.std(dim=0)

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        return (rows - self.mean) / self.deviation
