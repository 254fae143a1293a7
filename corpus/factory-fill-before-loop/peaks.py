import torch


def running_peak(signal: torch.Tensor, decay: float = 0.9) -> torch.Tensor:
    """The decaying peak of each channel of a signal (time, channels)."""
    peak = torch.full((signal.shape[1],), -torch.inf)
    peaks = []
    for sample in signal:
        peak = torch.maximum(sample, peak * decay)
        peaks.append(peak)
    return torch.stack(peaks)
