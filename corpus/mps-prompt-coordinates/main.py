import numpy as np
import torch


class Prompter:
    def __init__(self, target, device):
        self.target = target
        self.device = device
        self.project = torch.nn.Linear(2, 2, bias=False).to(device)
        torch.nn.init.constant_(self.project.weight, 0.5)

    def scale(self, points, height, width):
        ratio = self.target / max(height, width)
        return np.asarray(points, dtype=np.float64) * ratio

    def predict(self, points, height, width):
        coords = torch.as_tensor(self.scale(points, height, width), device=self.device)
        return self.project(coords.float()).sum().item()


device = "mps" if torch.backends.mps.is_available() else "cpu"
print(Prompter(8, device).predict([[1, 2], [3, 4]], 4, 2))
