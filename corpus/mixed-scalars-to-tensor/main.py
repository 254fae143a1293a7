import torch

from combine import combined

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
values = torch.linspace(0, 1, 5, device=device)
parts = {"mean": values.mean(), "spread": values.std()}
print(round(combined(parts, torch.tensor([2.0, 1.0], device=device)).item(), 5))
