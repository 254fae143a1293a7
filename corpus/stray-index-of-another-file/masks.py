import torch


def to_mask(index, size):
    mask = torch.zeros(size, dtype=torch.bool).to(index.device)
    mask[index] = True
    return mask
