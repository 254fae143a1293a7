import torch


def prepare_image_ids(height: int, width: int, device, dtype) -> torch.Tensor:
    """Row and column of each patch, as (height * width, 3)."""
    ids = torch.zeros(height, width, 3, device=device)
    ids[..., 1] = ids[..., 1] + torch.arange(height)[:, None]
    ids[..., 2] = ids[..., 2] + torch.arange(width)[None, :]
    return ids.reshape(height * width, 3).to(dtype=dtype)
