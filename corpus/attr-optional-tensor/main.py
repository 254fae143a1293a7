import torch

from objective import WeightedSum

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
samples = torch.arange(6, dtype=torch.float32).view(2, 3).to(device)
for objective in (WeightedSum(), WeightedSum(torch.tensor([1.0, 0.5, 0.25]))):
    print(objective.to(device)(samples).tolist())
