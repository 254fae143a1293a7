import torch

from pool import segment_sum

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
values = torch.arange(12, dtype=torch.float32).view(6, 2).to(device)
index = torch.tensor([0, 1, 0, 2, 1, 0], device=device)
sums = segment_sum(values, index, 3)
print(sums.tolist())
assert sums.sum().item() == 66.0
