import torch


class LuminanceLoss:
    """Mean squared difference of the luminance of two pictures (batch, 3, height, width)."""

    WEIGHTS = torch.tensor([0.299, 0.587, 0.114])

    def __call__(self, predicted: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        difference = (predicted - target).movedim(1, -1)
        luminance = (difference * self.WEIGHTS).sum(-1)
        return luminance.square().mean()
