import torch
from nflows.distributions import StandardNormal
from nflows.flows import Flow
from nflows.transforms import CompositeTransform, LeakyReLU, LULinear

device = "cuda" if torch.cuda.is_available() else "cpu"
transform = CompositeTransform([LULinear(3), LeakyReLU(), LULinear(3)])
flow = Flow(transform, StandardNormal([3])).to(device)
print(flow.log_prob(torch.randn(8, 3, device=device)))
