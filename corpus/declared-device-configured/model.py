from dataclasses import dataclass

import torch
from torch import nn

from zoo import fetch


@dataclass(frozen=True)
class Settings:
    width: int = 4
    device: str = "cpu"


class Recogniser(nn.Module):
    """A fetched backbone under our own head."""

    def __init__(self, settings: Settings):
        super().__init__()
        self.settings = settings
        self.backbone = fetch(settings.width)

    def forward(self, frames):
        features = self.backbone(frames.to(self.backbone.weight.device))
        return features, features.norm(dim=1)
