"""A model with a head for each task, whose layers are shown before it is trained."""

import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.trunk = nn.Linear(4, width)
        self.heads = {"sense": nn.Linear(width, 3), "tone": nn.Linear(width, 2)}

    def forward(self, rows, task):
        return self.heads[task](torch.relu(self.trunk(rows)))


def main():
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = Tagger().to(device)
    print(model)
    rows = torch.randn(6, 4).to(device)
    for task in ("sense", "tone"):
        print(task, tuple(model(rows, task).shape))


if __name__ == "__main__":
    main()
