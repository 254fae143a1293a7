import torch

from warp import warp

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
images = torch.arange(2 * 3 * 4, dtype=torch.float32).view(1, 2, 3, 4).to(device)
flow = torch.full((1, 3, 4, 2), 0.25).to(device)
print(round(warp(images, flow).sum().item(), 4))
