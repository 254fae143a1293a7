import torch

from tagger import Tagger

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Tagger(4, 3).to(device)
values = torch.linspace(-1, 1, 12).view(2, 3, 2).to(device)
print(round(model(values).sum().item(), 5))
