import torch
from botorch.utils.multi_objective.box_decompositions import FastNondominatedPartitioning

device = "cuda" if torch.cuda.is_available() else "cpu"
Y = torch.tensor([[1.0, 4.0, 2.0], [2.0, 2.0, 3.0], [3.0, 1.0, 4.0]])
partitioning = FastNondominatedPartitioning(torch.zeros(3), Y).to(device)
partitioning.update(torch.tensor([[4.0, 3.0, 1.0]], device=device))
print(partitioning.compute_hypervolume())
