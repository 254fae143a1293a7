import torch
from norse.torch import signed_poisson_encode

device = "cuda" if torch.cuda.is_available() else "cpu"
print(signed_poisson_encode(2 * torch.rand(8, device=device) - 1, seq_length=10))
