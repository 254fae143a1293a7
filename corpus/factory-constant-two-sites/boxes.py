import torch


def relative(boxes: torch.Tensor, width: int, height: int) -> torch.Tensor:
    """Pixel boxes (n, 4) as fractions of the image."""
    image_size = torch.tensor([width, height, width, height])
    return boxes / image_size


def absolute(boxes: torch.Tensor, width: int, height: int) -> torch.Tensor:
    """Boxes (n, 4) given as fractions, in pixels."""
    sides = torch.tensor([width, height, width, height])
    return boxes * sides
