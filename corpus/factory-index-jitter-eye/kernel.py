import torch


def covariance_factor(points: torch.Tensor, length: float = 0.5, jitter: float = 1e-3) -> torch.Tensor:
    """The Cholesky factor of a squared-exponential covariance."""
    squared = torch.cdist(points, points).square()
    covariance = torch.exp(-0.5 * squared / length**2)
    return torch.linalg.cholesky(covariance + jitter * torch.eye(len(points)))
