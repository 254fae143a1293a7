import torch

from unet import TwoStage

torch.manual_seed(0)
count = torch.cuda.device_count() if torch.cuda.is_available() else 0
devices = [torch.device("cuda", index) for index in range(count)] or [torch.device("cpu")]
model = TwoStage(4, devices[0], devices[-1])
print(round(model(torch.linspace(0, 1, 8).view(2, 4)).sum().item(), 5))
