import torch

from stable import log_prob

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.set_default_dtype(torch.float64)
print(round(log_prob(torch.ones(3).to(device)).sum().item(), 4))
