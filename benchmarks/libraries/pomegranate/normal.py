import torch
from pomegranate.distributions import Normal

device = "cuda" if torch.cuda.is_available() else "cpu"
data = torch.randn(100, 3, device=device)
print(Normal(data.mean(dim=0), torch.cov(data.T), covariance_type="full").log_probability(data).mean())
