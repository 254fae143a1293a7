import torch
from torch import nn


class PerceptualLoss(nn.Module):
    """Distance of two pictures in the features of a fixed network."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 4, 3, padding=1))
        self.requires_grad_(False)

    def forward(self, picture, target):
        with torch.no_grad():
            wanted = self.features(target)
        return (self.features(picture) - wanted).abs().mean()
