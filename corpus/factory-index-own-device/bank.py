import torch


class MemoryBank:
    """The last keys seen, with the step at which each came in."""

    def __init__(self, size: int, width: int, device: torch.device):
        self.device = device
        self.keys = torch.zeros(size, width, device=self.device)
        self.steps = torch.zeros(size, device=self.device)
        self.count = torch.zeros(1, dtype=torch.long, device=self.device)

    def add(self, keys: torch.Tensor) -> None:
        """Put keys (n, width) into the oldest slots."""
        slots = (self.count + torch.arange(len(keys))) % len(self.keys)
        self.keys[slots] = keys.to(self.device)
        self.steps[slots] = self.count.float()
        self.count += len(keys)
