import torch

from smoothing import smooth_labels

gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
device = torch.device("cuda", gpus - 1) if gpus else torch.device("cpu")
labels = torch.tensor([1, 0, 2], device=device)
print(smooth_labels(labels, 4).sum(dim=0).tolist())
