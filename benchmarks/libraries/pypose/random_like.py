import pypose
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
start = pypose.randn_SE3(4, device=device)
noise = pypose.randn_like(start, sigma=0.1)
print((start @ noise).shape)
