import torch


class Schedule:
    def __init__(self, steps):
        betas = torch.linspace(0.0, 0.5, steps, dtype=torch.float64)
        self.products = torch.cumprod(1.0 - betas, dim=0)

    def at(self, step, device):
        return self.products.to(device)[step]


device = "mps" if torch.backends.mps.is_available() else "cpu"
schedule = Schedule(3)
print(round(schedule.at(torch.tensor([2], device=device), device).item(), 4))
