import torch

from padding import pad

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
rows = [torch.arange(n, dtype=torch.float64, device=device) for n in (2, 4, 3)]
print(pad(rows, -1.0).tolist())
