import torch
from speechbrain.processing.features import GlobalNorm

device = "cuda" if torch.cuda.is_available() else "cpu"
norm = GlobalNorm(norm_mean=0.0, norm_std=1.0, length_dim=1).to(device)
print(norm(torch.randn(4, 10, device=device)))
