import torch

from peaks import running_peak

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
signal = torch.sin(torch.arange(60, dtype=torch.float32)).abs().view(20, 3).to(device)
print(round(running_peak(signal).sum().item(), 4))
