import torch
from monai.metrics import compute_average_precision

device = "cuda" if torch.cuda.is_available() else "cpu"
labels = torch.tensor([[0, 1], [1, 0], [1, 1], [0, 0]], device=device)
scores = torch.rand(4, 2, device=device)
print(compute_average_precision(scores, labels, average="weighted"))
