import torch
from torchsurv.metrics.auc import Auc

device = "cuda" if torch.cuda.is_available() else "cpu"
time = torch.arange(10.0, 20.0, device=device)
event = torch.tensor([True, True, False, True, False, True, False, True, True, False], device=device)
print(Auc()(torch.rand(10, device=device), event, time))
