import torch
from normflows import NormalizingFlow
from normflows.distributions import DiagGaussian
from normflows.flows import ActNorm, Composite, LULinearPermute

device = "cuda" if torch.cuda.is_available() else "cpu"
flow = Composite([LULinearPermute(2), ActNorm(2)])
model = NormalizingFlow(DiagGaussian(2), [flow]).to(device)
print(model.log_prob(torch.randn(8, 2, device=device)))
