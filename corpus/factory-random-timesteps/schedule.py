import torch


def signal_share(alphas: torch.Tensor, images: torch.Tensor) -> torch.Tensor:
    """The share of signal at a random step of the schedule, one for each image."""
    batch = images.shape[0]
    steps = torch.randint(0, len(alphas), (batch,))
    return alphas.gather(0, steps).view(-1, 1, 1, 1)
