import torch
from nflows.transforms import LULinear

transform = LULinear(4, using_cache=True).eval()
print(transform(torch.randn(8, 4))[0])  # a look on the CPU first

device = "cuda" if torch.cuda.is_available() else "cpu"
transform = transform.to(device)
print(transform(torch.randn(8, 4, device=device))[0])
