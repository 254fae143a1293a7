import torch

from average import mean_state

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
template = torch.empty(2, 3)
states = [torch.full((2, 3), float(k), device=device) for k in range(4)]
print(mean_state(template, states).tolist())
