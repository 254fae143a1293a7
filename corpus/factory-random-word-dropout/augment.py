import torch

UNKNOWN = 1


def drop_words(ids: torch.Tensor, share: float) -> torch.Tensor:
    """Replace a share of the ids by the unknown word."""
    dropped = torch.rand(ids.shape) < share
    return torch.where(dropped, torch.full_like(ids, UNKNOWN), ids)
