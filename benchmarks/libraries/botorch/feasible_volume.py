import torch
from botorch.models import SingleTaskGP
from botorch.utils.feasible_volume import estimate_feasible_volume

device = "cuda" if torch.cuda.is_available() else "cpu"
X = torch.rand(6, 2, dtype=torch.float64, device=device)
model = SingleTaskGP(X, X.sum(-1, keepdim=True)).eval()
bounds = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.float64, device=device)
print(estimate_feasible_volume(bounds, model, [lambda Y: Y[..., 0] - 1], dtype=torch.float64))
