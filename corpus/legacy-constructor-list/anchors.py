import torch


def anchors(sizes: torch.Tensor, ratios: list[float]) -> torch.Tensor:
    """Anchor boxes (n, 4) around the origin, for each size and ratio."""
    root = torch.Tensor(ratios).sqrt()
    width = (sizes[:, None] * root[None]).flatten()
    height = (sizes[:, None] / root[None]).flatten()
    return torch.stack([-width, -height, width, height], dim=1) / 2
