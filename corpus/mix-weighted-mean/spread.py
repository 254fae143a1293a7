import torch


def weighted_variance(values: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """The variance of values (n,) of which each counts as much as its weight."""
    weights = weights / weights.sum()
    mean = (weights * values).sum()
    return (weights * (values - mean).square()).sum()
