import torch


def add_noise(images: torch.Tensor, level: float) -> torch.Tensor:
    """Images mixed with Gaussian noise."""
    noise = torch.randn(images.shape)
    return (1 - level) ** 0.5 * images + level**0.5 * noise
