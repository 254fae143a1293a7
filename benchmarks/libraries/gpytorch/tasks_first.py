import torch
from gpytorch.distributions import MultitaskMultivariateNormal

device = "cuda" if torch.cuda.is_available() else "cpu"
mean, covariance = torch.zeros(3, 2, device=device), torch.eye(6, device=device)
distribution = MultitaskMultivariateNormal(mean, covariance, interleaved=False)
tasks = torch.tensor([1, 0], device=device)
print(distribution[:, tasks].mean)
