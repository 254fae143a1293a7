import torch

from targets import select

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
scores = torch.arange(12, dtype=torch.float32).view(3, 4).to(device)
print(select(scores, 1).tolist(), select(scores, [3, 0, 2]).tolist())
