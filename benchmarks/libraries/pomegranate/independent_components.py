import torch
from pomegranate.distributions import Exponential, IndependentComponents

device = "cuda" if torch.cuda.is_available() else "cpu"
columns = [Exponential([1.2]).to(device), Exponential([0.4]).to(device)]
distribution = IndependentComponents(columns).to(device)
seen = torch.tensor([[True, False], [True, True]], device=device)
print(distribution.log_probability(torch.masked.MaskedTensor(torch.rand(2, 2, device=device), seen)))
