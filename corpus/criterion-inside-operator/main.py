import torch
from torch import nn


def targets(count, smooth):
    """Real pictures are scored towards 1, a little less where that is smoothed."""
    return torch.full((count, 1), 1.0 - smooth)


torch.manual_seed(1)
device = "cuda" if torch.cuda.is_available() else "cpu"
critic = nn.Linear(2, 1).to(device)
loss = nn.BCEWithLogitsLoss()
for step in range(2):
    real = torch.ones(4, 2, device=device) * step
    fake = -real
    valid = targets(4, 0.1)
    total = loss(critic(real), valid) + loss(critic(fake), torch.zeros(4, 1))
    print(round(total.item(), 4))
