import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
weights = torch.tensor([0.25, 0.75])

features = torch.linspace(-1, 1, 24).view(6, 4).to(device)
labels = torch.tensor([0, 0, 0, 0, 1, 1]).to(device)
for step in range(5):
    loss = F.cross_entropy(model(features), labels, weight=weights)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.5f}")
