import torch
from botorch.models import SingleTaskGP
from botorch.sampling.pathwise import draw_matheron_paths
from botorch.utils.sampling import optimize_posterior_samples

device = "cuda" if torch.cuda.is_available() else "cpu"
X = torch.rand(6, 2, dtype=torch.float64, device=device)
model = SingleTaskGP(X, X.sum(-1, keepdim=True)).eval()
bounds = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.float64, device=device)
paths = draw_matheron_paths(model, torch.Size([2]))
print(optimize_posterior_samples(paths, bounds, raw_samples=32, num_restarts=2))
