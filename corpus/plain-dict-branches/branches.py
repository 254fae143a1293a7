from torch import nn


class MultiTask(nn.Module):
    def __init__(self, width: int, tasks: dict[str, int]):
        super().__init__()
        self.trunk = nn.Linear(width, width)
        self.heads = {name: nn.Linear(width, classes) for name, classes in tasks.items()}

    def forward(self, rows, task: str):
        return self.heads[task](self.trunk(rows))
