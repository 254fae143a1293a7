import torch

from kernel import covariance_factor

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
points = torch.linspace(0, 1, 5).unsqueeze(1).to(device)
factor = covariance_factor(points)
print(round(factor.diagonal().log().sum().item(), 3))
