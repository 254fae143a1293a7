import torch

from solarize import solarize

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
images = torch.linspace(0, 1, 24).view(2, 3, 2, 2).to(device)
print(round(solarize(images).sum().item(), 4))
print(round(solarize(images, torch.tensor([0.3, 0.8])).sum().item(), 4))
