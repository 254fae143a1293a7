import torch
from torch import nn
from torch.nn import functional as F


class Warp(nn.Module):
    def __init__(self):
        super().__init__()
        self.grids = {}

    def forward(self, image, flow):
        height, width = flow.shape[-2:]
        if (height, width, flow.device) not in self.grids:
            across = torch.linspace(-1.0, 1.0, width).view(1, 1, 1, width).expand(1, 1, height, width)
            down = torch.linspace(-1.0, 1.0, height).view(1, 1, height, 1).expand(1, 1, height, width)
            self.grids[height, width, flow.device] = torch.cat([across, down], dim=1)
        grid = (self.grids[height, width, flow.device] + flow).permute(0, 2, 3, 1)
        return F.grid_sample(image, grid, align_corners=True)


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
warp = Warp().to(device)
image = torch.arange(32.0, device=device).view(2, 1, 4, 4)
flow = torch.zeros(2, 2, 4, 4, device=device)
for _ in range(2):
    print(warp(image, flow).sum().item())
