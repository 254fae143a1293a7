import torch
from botorch.utils.multi_objective.box_decompositions import NondominatedPartitioning

device = "cuda" if torch.cuda.is_available() else "cpu"
reference = torch.zeros(2, device=device)
before = NondominatedPartitioning(reference).compute_hypervolume()
after = NondominatedPartitioning(reference, torch.tensor([[1.0, 2.0]], device=device)).compute_hypervolume()
print(torch.stack([before, after]))
