import torch
from gpytorch.kernels import GibbsKernel

device = "cuda" if torch.cuda.is_available() else "cpu"
lengthscale = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.Softplus())
kernel = GibbsKernel(lengthscale_fn=lengthscale, batch_shape=torch.Size([3])).to(device)
best = torch.tensor([0.1, 0.9, 0.5], device=device).argsort()[:2]
print(kernel[best].batch_shape)
