import torch
from torchmetrics.functional.classification import demographic_parity

device = "cuda" if torch.cuda.is_available() else "cpu"
predictions = torch.rand(8, device=device)
groups = torch.randint(0, 2, (8,), device=device)
print(demographic_parity(predictions, groups))
