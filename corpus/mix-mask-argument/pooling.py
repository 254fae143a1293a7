import torch


def max_pool(hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """The largest value of each feature over the kept positions; hidden (n, length, width), mask (n, length)."""
    masked = hidden.masked_fill(~mask.unsqueeze(-1), float("-inf"))
    return masked.amax(dim=1)
