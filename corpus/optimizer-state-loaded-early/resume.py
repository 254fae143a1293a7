import io

import torch
from torch import nn


def make_model():
    torch.manual_seed(0)
    return nn.Linear(3, 1)


def make_optimizer(model):
    return torch.optim.Adam(model.parameters(), lr=0.05)


def step(model, optimizer, rows):
    loss = model(rows).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


rows = torch.linspace(-1, 1, 12).view(4, 3)
model = make_model()
optimizer = make_optimizer(model)
step(model, optimizer, rows)
file = io.BytesIO()
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, file)

# Another day.
file.seek(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
checkpoint = torch.load(file, map_location="cpu", weights_only=True)
model = make_model()
optimizer = make_optimizer(model)
model.load_state_dict(checkpoint["model"])
optimizer.load_state_dict(checkpoint["optimizer"])
model.to(device)
for _ in range(2):
    print(round(step(model, optimizer, rows.to(device)), 5))
