import torch
from torchsurv.metrics.brier_score import BrierScore

device = "cuda" if torch.cuda.is_available() else "cpu"
time = torch.arange(10.0, 20.0, device=device)
event = torch.tensor([True, False] * 5, device=device)
print(BrierScore()(torch.rand(10, 10, device=device), event, time))
