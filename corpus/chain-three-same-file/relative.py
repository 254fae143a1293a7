import torch


def mix(hidden: torch.Tensor) -> torch.Tensor:
    """Each position's states (length, 2), with a decaying share of the mean of those before."""
    length = len(hidden)
    rows = torch.arange(length)
    counts = (rows + 1).unsqueeze(1)
    means = hidden.cumsum(dim=0) / counts
    decay = torch.tensor([0.5, 0.25])
    shares = means * decay
    out = torch.zeros(length, 2)
    out += hidden
    out[1:] += shares[:-1]
    return out
