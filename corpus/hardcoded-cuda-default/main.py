import torch

from mixup import mixup

gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
device = torch.device("cuda", gpus - 1) if gpus else torch.device("cpu")
print(mixup(torch.tensor([0, 2, 1], device=device), 3, 0.75).tolist())
