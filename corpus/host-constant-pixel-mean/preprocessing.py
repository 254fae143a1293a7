import torch

PIXEL_MEAN = torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1)
PIXEL_STD = torch.tensor([0.229, 0.224, 0.225]).view(3, 1, 1)


def normalise(images: torch.Tensor) -> torch.Tensor:
    """Whiten RGB images of shape (batch, 3, height, width)."""
    return (images - PIXEL_MEAN) / PIXEL_STD
