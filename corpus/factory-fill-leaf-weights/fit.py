import torch


def fit(features: torch.Tensor, targets: torch.Tensor, steps: int = 4) -> torch.Tensor:
    """Least squares by gradient descent."""
    weights = torch.zeros(features.shape[1], requires_grad=True)
    optimizer = torch.optim.SGD([weights], lr=0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = (features @ weights - targets).square().mean()
        loss.backward()
        optimizer.step()
    return weights.detach()
