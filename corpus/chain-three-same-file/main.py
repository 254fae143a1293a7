import torch

from relative import mix

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
print(mix(torch.arange(8, device=device).float().view(4, 2)).tolist())
