import torch


class Replay:
    """The last states, in host memory: there are too many of them for a GPU."""

    def __init__(self, size: int, width: int):
        self.rows = torch.zeros(size, width)
        self.count = 0

    def add(self, state: torch.Tensor) -> None:
        self.rows[self.count % len(self.rows)] = state.detach().cpu()
        self.count += 1

    def sample(self, number: int) -> torch.Tensor:
        """Rows picked at random, on the host."""
        return self.rows[torch.randperm(min(self.count, len(self.rows)))[:number]]
