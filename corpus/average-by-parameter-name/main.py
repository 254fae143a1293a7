import torch
from torch import nn


class EMA:
    def __init__(self, model, decay=0.9):
        self.decay = decay
        self.shadow = {name: p.detach().clone() for name, p in model.named_parameters()}

    @torch.no_grad()
    def update(self, model):
        for name, p in model.named_parameters():
            self.shadow[name] = self.decay * self.shadow[name] + (1 - self.decay) * p

    def apply(self, model):
        for name, p in model.named_parameters():
            p.data.copy_(self.shadow[name])


torch.manual_seed(0)
model = nn.Linear(2, 2)
ema = EMA(model)
device = "cuda:0" if torch.cuda.is_available() else "cpu"
model.to(device)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    opt.zero_grad()
    model(torch.ones(1, 2, device=device)).sum().backward()
    opt.step()
    ema.update(model)
ema.apply(model)
print(round(sum(p.sum().item() for p in model.parameters()), 4))
