import numpy as np
import torch


def clip_rows(gradients: torch.Tensor, share: float) -> torch.Tensor:
    """Shorten the longest rows to the length at a percentile."""
    norms = gradients.norm(dim=1)
    limit = float(np.percentile(norms, share))
    return gradients * (limit / norms).clamp(max=1.0)[:, None]
