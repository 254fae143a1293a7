import torch


def make_grid(height: int, width: int, device="cpu") -> torch.Tensor:
    """The coordinates of each cell, as (2, height, width)."""
    rows = torch.arange(height, device=device)
    columns = torch.arange(width, device=device)
    return torch.stack(torch.meshgrid(rows, columns, indexing="ij")).float()


def with_coordinates(features: torch.Tensor) -> torch.Tensor:
    """Features (n, c, h, w) with two more channels that tell where each cell is."""
    grid = make_grid(*features.shape[-2:])
    return torch.cat([features, grid.expand(len(features), -1, -1, -1)], dim=1)
