import torch


def match(first: torch.Tensor, second: torch.Tensor, limit: float) -> torch.Tensor:
    """Pairs (index, index, ratio) of descriptors whose nearest neighbour is clearly nearer than the next one."""
    distances = torch.cdist(first, second)
    nearest, index = distances.topk(2, dim=1, largest=False)
    ratio = (nearest[:, 0] / nearest[:, 1]).cpu()
    numbers = torch.arange(len(first), device=first.device)
    table = torch.stack([numbers.float(), index[:, 0].float(), ratio], dim=1)
    return table[table[:, 2] < limit]
