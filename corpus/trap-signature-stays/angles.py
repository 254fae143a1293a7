import torch

__all__ = ["sinusoid"]


def sinusoid(length: int, width: int) -> torch.Tensor:
    """Sines of growing frequency (length, width), on the host."""
    return torch.sin(torch.outer(torch.arange(length).float(), 0.5 ** torch.arange(width)))
