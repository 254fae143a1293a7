import torch


def smooth_labels(labels: torch.Tensor, classes: int, smoothing: float = 0.1) -> torch.Tensor:
    """Labels (n,) as rows of probabilities (n, classes)."""
    device = "cuda:0" if torch.cuda.is_available() else "cpu"
    table = torch.full((len(labels), classes), smoothing / classes, device=device)
    return table.scatter_(1, labels[:, None], 1.0 - smoothing + smoothing / classes)
