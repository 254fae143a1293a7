import torch

from schedule import Schedule

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
schedule = Schedule(5)
images = torch.ones(3, 2, device=device)
steps = torch.tensor([0, 2, 4], device=device)
print(round(schedule.variance(steps).sum().item(), 4), round(schedule.noisy(images, steps).sum().item(), 4))
