import torch
from torch import nn

from rotary import Rotary

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(nn.Linear(4, 4), Rotary(4, 8)).to(device)
hidden = torch.linspace(-1, 1, 24).view(1, 6, 4).to(device)
print(round(model(hidden).sum().item(), 5), len(model.state_dict()))
