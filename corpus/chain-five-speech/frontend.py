import torch


def energies(signal: torch.Tensor, size: int) -> torch.Tensor:
    """The windowed energy of frames of a signal (n, time), as (n, frames, size)."""
    frames = signal.unfold(1, size, size)
    window = torch.hann_window(size)
    return (frames * window).square()
