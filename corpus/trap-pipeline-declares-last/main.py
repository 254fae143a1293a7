import torch
from torch import nn


class Pipeline(nn.Module):
    """Two stages on two GPUs; `device` is where the loss is taken, that is the last one."""

    def __init__(self, devices):
        super().__init__()
        self.device = devices[-1]
        self.stem = nn.Linear(4, 4).to(devices[0])
        self.tail = nn.Linear(4, 2).to(devices[-1])
        self.entry = devices[0]

    def embed(self, rows):
        return self.stem(rows.to(self.entry))

    def forward(self, rows):
        return self.tail(self.embed(rows).to(self.device))


torch.manual_seed(0)
count = torch.cuda.device_count() if torch.cuda.is_available() else 0
model = Pipeline([torch.device("cuda", index) for index in range(count)] or [torch.device("cpu")])
with torch.no_grad():
    rows = torch.ones(2, 4)
    scores = model(rows)
    anchor = torch.full((2, 4), 0.5, device=model.device)
    gap = (model.embed(rows) - anchor).abs().mean()
print(round(scores.sum().item(), 4), round(gap.item(), 4))
