import torch
from snntorch import Leaky
from snntorch.export_nir import export_to_nir

device = "cuda" if torch.cuda.is_available() else "cpu"
model = torch.nn.Sequential(torch.nn.Linear(8, 4), Leaky(beta=0.9, init_hidden=True)).to(device)
print(export_to_nir(model, torch.randn(1, 8, device=device)))
