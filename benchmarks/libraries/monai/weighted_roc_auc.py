import torch
from monai.metrics import compute_roc_auc

device = "cuda" if torch.cuda.is_available() else "cpu"
labels = torch.tensor([[0, 1], [1, 0], [1, 1], [0, 0]], device=device)
scores = torch.rand(4, 2, device=device)
print(compute_roc_auc(scores, labels, average="weighted"))
