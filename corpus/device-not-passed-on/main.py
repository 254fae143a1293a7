import torch

from grid import with_coordinates

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
features = torch.ones(1, 1, 2, 3, device=device)
print(with_coordinates(features).sum(dim=(2, 3)).tolist())
