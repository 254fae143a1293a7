import torch
from torch import nn


class Accuracy(nn.Module):
    """A metric that checks its devices itself, as libraries do."""

    def __init__(self, classes):
        super().__init__()
        self.register_buffer("total", torch.zeros(classes))

    def forward(self, scores, labels):
        if scores.device != self.total.device:
            raise RuntimeError(
                f"Encountered different devices in metric calculation (see stacktrace for details)."
                f" Instead of a scores on {scores.device}, self.total is on device {self.total.device}"
            )
        self.total += torch.bincount(labels, minlength=self.total.numel())
        return self.total.sum()


class Task(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 3)
        self.metrics = {"train": Accuracy(3), "val": Accuracy(3)}

    def training_step(self, x, y, stage):
        scores = self.layer(x)
        return self.metrics[stage](scores, y)


torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
task = Task().to(device)
x, y = torch.ones(2, 4).to(device), torch.tensor([0, 1]).to(device)
print(task.training_step(x, y, "train").item(), task.training_step(x, y, "val").item())
