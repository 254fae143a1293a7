import torch
from torchquad import MonteCarlo

device = "cuda" if torch.cuda.is_available() else "cpu"
domain = torch.tensor([[0.0, 1.0], [-1.0, 1.0]], device=device)
print(MonteCarlo().integrate(lambda x: x[:, 0] * x[:, 1] ** 2, dim=2, N=1000, integration_domain=domain))
