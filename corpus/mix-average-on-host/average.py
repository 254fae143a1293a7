from copy import deepcopy

import torch


class MovingAverage:
    """A smoothed copy of a model, kept on `device` to save GPU memory."""

    def __init__(self, model: torch.nn.Module, decay: float, device: str = "cpu"):
        self.device = torch.device(device)
        self.decay = decay
        self.module = deepcopy(model).to(self.device)

    @torch.no_grad()
    def update(self, model: torch.nn.Module) -> None:
        for mean, parameter in zip(self.module.parameters(), model.parameters(), strict=True):
            mean.lerp_(parameter, 1.0 - self.decay)
