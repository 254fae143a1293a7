import torch


def score(model, rows, device: str):
    """The mean score of rows, in half precision."""
    with torch.autocast(device, dtype=torch.bfloat16):
        return model(rows.to(device)).float().mean()
