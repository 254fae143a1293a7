import torch


def combined(parts: dict[str, torch.Tensor], weights: torch.Tensor) -> torch.Tensor:
    """The weighted mean of 0-dim losses, for the log."""
    losses = torch.tensor([part.detach() for part in parts.values()])
    return (losses * weights).sum() / weights.sum()
