import torch
from snntorch import Leaky
from snntorch.export_nir import export_to_nir

device = "cuda" if torch.cuda.is_available() else "cpu"
neurons = Leaky(beta=0.9 * torch.ones(4), threshold=torch.ones(4), init_hidden=True)
model = torch.nn.Sequential(torch.nn.Linear(8, 4), neurons).to(device)
print(export_to_nir(model, torch.randn(1, 8, device=device), ignore_dims=[0]))
