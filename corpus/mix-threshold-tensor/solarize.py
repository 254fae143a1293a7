import torch


def solarize(images: torch.Tensor, thresholds: float | torch.Tensor = 0.5) -> torch.Tensor:
    """Turn all pixels above a threshold (one for all images, or one each) into their negative."""
    if isinstance(thresholds, float):
        thresholds = torch.as_tensor(thresholds, device=images.device)
    thresholds = thresholds.view(-1, 1, 1, 1)
    return torch.where(images < thresholds, images, 1.0 - images)
