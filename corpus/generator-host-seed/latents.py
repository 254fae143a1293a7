import torch


def latents(shape, seed: int, device) -> torch.Tensor:
    """Gaussian noise that depends on the seed alone."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, device=device)
