"""Quantize images on a GPU by values that are not trained."""

import torch
from vector_quantize_pytorch import LatentQuantize

device = "cuda" if torch.cuda.is_available() else "cpu"
quantizer = LatentQuantize(levels=[5, 5, 8], dim=16, optimize_values=False).to(device)
images = torch.randn(1, 16, 32, 32, device=device)
quantized, indices, loss = quantizer(images)
print(quantized.shape)
