import torch

PALETTE = torch.tensor([[0, 0, 0], [220, 20, 60], [0, 128, 0], [30, 60, 220]], dtype=torch.uint8)


def paint(labels: torch.Tensor) -> torch.Tensor:
    """Turn a label map (height, width) into an image (height, width, 3) beside it."""
    return PALETTE[labels]
