import torch

from block import Residual

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Residual(4).to(device)
hidden = torch.linspace(-1, 1, 12).view(2, 6).to(device)
print(round(model(hidden).abs().sum().item(), 4))
