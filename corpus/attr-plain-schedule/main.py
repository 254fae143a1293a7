import torch
from torch import nn

from schedule import Scheduler

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Linear(4, 4).to(device)
scheduler = Scheduler()
x = torch.ones(2, 4).to(device)
t = torch.tensor([3, 5]).to(device)
noisy = scheduler.add_noise(x, torch.ones_like(x), t)
print(scheduler.step(model(noisy), t, noisy).shape)
