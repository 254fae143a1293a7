import torch
from torch import nn

from losses import PerceptualLoss

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
generator = nn.Conv2d(3, 3, 1).to(device)
perceptual = PerceptualLoss()
optimizer = torch.optim.Adam(generator.parameters(), lr=0.01)
target = torch.linspace(0, 1, 48).view(1, 3, 4, 4).to(device)
for step in range(3):
    picture = generator(target)
    loss = perceptual(picture, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{step} {loss.item():.5f}")
