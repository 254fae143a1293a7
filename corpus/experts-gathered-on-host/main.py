import torch
from torch import nn


class MoE(nn.Module):
    def __init__(self, width, experts, top=2):
        super().__init__()
        self.gate = nn.Linear(width, experts)
        self.experts = nn.ModuleList(nn.Linear(width, width) for _ in range(experts))
        self.top = top
        self.load = torch.zeros(experts)

    def forward(self, x):
        weights, chosen = self.gate(x).softmax(-1).topk(self.top)
        out = torch.zeros(x.shape)
        for i, expert in enumerate(self.experts):
            rows, slot = torch.where(chosen == i)
            if rows.numel():
                out[rows] += weights[rows, slot].unsqueeze(1) * expert(x[rows])
        self.load += torch.bincount(chosen.flatten(), minlength=len(self.experts))
        return out


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
moe = MoE(4, 3).to(device)
with torch.no_grad():
    for _ in range(2):
        y = moe(torch.randn(5, 4).to(device))
print(tuple(y.shape), int(moe.load.sum()))
