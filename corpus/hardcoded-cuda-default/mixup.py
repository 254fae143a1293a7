import torch

DEFAULT = "cuda" if torch.cuda.is_available() else "cpu"


def one_hot(labels: torch.Tensor, classes: int, device: str = DEFAULT) -> torch.Tensor:
    """Labels (n,) as rows (n, classes)."""
    out = torch.zeros(len(labels), classes, device=device)
    return out.scatter_(1, labels[:, None], 1.0)


def mixup(target: torch.Tensor, classes: int, share: float) -> torch.Tensor:
    """Each target mixed with that of its mirror image in the batch."""
    first = one_hot(target, classes)
    second = one_hot(target.flip(0), classes)
    return first * share + second * (1.0 - share)
