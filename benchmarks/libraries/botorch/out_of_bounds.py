import torch
from botorch.utils.probability.truncated_multivariate_normal import TruncatedMultivariateNormal

device = "cuda" if torch.cuda.is_available() else "cpu"
bounds = torch.tensor([[-1.0, 1.0], [-1.0, 1.0]], device=device)
normal = TruncatedMultivariateNormal(torch.zeros(2, device=device), torch.eye(2, device=device), bounds=bounds)
points = torch.tensor([[2.0, 2.0], [3.0, 0.0]], device=device)
logs = normal.log_prob(points)
assert logs.device == points.device, f"{logs.device}, for points on {points.device}"
