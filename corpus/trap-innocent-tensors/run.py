import torch

from settings import Settings

torch.manual_seed(0)
settings = Settings()
model = torch.nn.Linear(2, 2).to(settings.model_device)
for start in range(3):
    batch = torch.full((1, 2), float(start)).to(settings.data_device)
    target = torch.zeros(1, 2).to(settings.data_device)
    print(round((model(batch) - target).square().mean().item(), 5))
