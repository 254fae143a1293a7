import torch
from e3nn import o3

device = "cuda" if torch.cuda.is_available() else "cpu"
rotation = o3.rand_matrix(device=device)
print(o3.Irreps("1x0e + 1x1o").D_from_matrix(rotation))
