import torch

from rotary import Rotary

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Rotary(4)
sample = torch.ones(1, 6, 4)
print(round(model(sample).sum().item(), 4))
model.to(device)
print(round(model(sample.to(device)).sum().item(), 4))
