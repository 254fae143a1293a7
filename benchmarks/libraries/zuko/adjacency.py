import torch
from zuko.flows import MAF

device = "cuda" if torch.cuda.is_available() else "cpu"
adjacency = torch.ones(3, 3, dtype=torch.bool, device=device).tril()  # learned on the device, say
flow = MAF(features=3, adjacency=adjacency).to(device)
print(flow().log_prob(torch.randn(8, 3, device=device)))
