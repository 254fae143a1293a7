import torch
from nflows.transforms import MaskedPiecewiseLinearAutoregressiveTransform

device = "cuda" if torch.cuda.is_available() else "cpu"
transform = MaskedPiecewiseLinearAutoregressiveTransform(num_bins=8, features=3, hidden_features=16).to(device)
inputs = torch.rand(10, 3, device=device)
outputs, _ = transform(inputs)
again, _ = transform.inverse(outputs)
print((again - inputs).abs().max())
