import torch


def advantages(values: torch.Tensor, rewards: list[float], discount: float) -> torch.Tensor:
    """Discounted returns minus the critic's values."""
    returns, total = [], 0.0
    for reward in reversed(rewards):
        total = reward + discount * total
        returns.insert(0, total)
    return torch.FloatTensor(returns) - values
