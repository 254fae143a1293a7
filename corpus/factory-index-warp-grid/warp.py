import torch
from torch.nn.functional import grid_sample


def warp(images: torch.Tensor, flow: torch.Tensor) -> torch.Tensor:
    """Move the pixels of images (n, c, h, w) by a flow (n, h, w, 2) in grid units."""
    height, width = images.shape[-2:]
    rows, columns = torch.meshgrid(
        torch.linspace(-1, 1, height),
        torch.linspace(-1, 1, width),
        indexing="ij",
    )
    grid = torch.stack([columns, rows], dim=-1)
    return grid_sample(images, grid + flow, align_corners=True)
