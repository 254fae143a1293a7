import torch

from parallel import Split

torch.manual_seed(0)
count = torch.cuda.device_count() if torch.cuda.is_available() else 0
devices = [torch.device("cuda", index) for index in range(count)] or [torch.device("cpu")]
model = Split(3, [devices[index * len(devices) // 2] for index in range(2)])
hidden = torch.linspace(0, 1, 6).view(2, 3).to(devices[0])
mask = torch.tensor([[1.0], [0.0]]).to(devices[0])
print(round(model(hidden, mask).sum().item(), 5))
