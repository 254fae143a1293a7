import torch
from nflows.transforms import QRLinear

device = "cuda" if torch.cuda.is_available() else "cpu"
transform = QRLinear(features=4, num_householder=2, using_cache=True).to(device).eval()
latent, _ = transform(torch.randn(8, 4, device=device))
inputs, _ = transform.inverse(latent)
print(inputs)
