import torch
from zuko.flows import MaskedAutoregressiveTransform

device = "cuda" if torch.cuda.is_available() else "cpu"
order = torch.randperm(3, device=device)
flow = MaskedAutoregressiveTransform(features=3, context=2, order=order).to(device)
context = torch.randn(8, 2, device=device)
print(flow(context)(torch.randn(8, 3, device=device)))
