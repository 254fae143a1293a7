import torch
from norse.torch import population_encode

device = "cuda" if torch.cuda.is_available() else "cpu"
print(population_encode(torch.rand(8, device=device), out_features=4))
