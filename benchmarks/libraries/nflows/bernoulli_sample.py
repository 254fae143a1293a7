import torch
from nflows.distributions import ConditionalIndependentBernoulli

device = "cuda" if torch.cuda.is_available() else "cpu"
distribution = ConditionalIndependentBernoulli(shape=[3]).to(device)
print(distribution.sample(5, context=torch.randn(2, 3, device=device)))
