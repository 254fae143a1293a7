import torch


class Schedule:
    def __init__(self, steps: int):
        self.betas = torch.linspace(0.1, 0.5, steps)
        self.shares = torch.cumprod(1 - self.betas, dim=0)

    def variance(self, steps: torch.Tensor) -> torch.Tensor:
        return self.betas.to(steps.device)[steps]

    def noisy(self, images: torch.Tensor, steps: torch.Tensor) -> torch.Tensor:
        """Images (n, pixels) dimmed as far as their step says."""
        share = self.shares[steps]
        return images * share.sqrt()[:, None]
