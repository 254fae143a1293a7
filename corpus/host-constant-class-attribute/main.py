import torch
from torch import nn

from loss import LuminanceLoss

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(3)
network = nn.Conv2d(3, 3, 1).to(device)
picture = torch.linspace(0, 1, 48).view(1, 3, 4, 4).to(device)
optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
criterion = LuminanceLoss()
for step in range(3):
    optimizer.zero_grad()
    loss = criterion(network(picture), picture)
    loss.backward()
    optimizer.step()
    print(step, round(loss.item(), 5))
