import torch

from spread import weighted_variance

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
values = torch.tensor([1.0, 2.0, 4.0], device=device)
print(round(weighted_variance(values, torch.tensor([1.0, 1.0, 2.0])).item(), 5))
