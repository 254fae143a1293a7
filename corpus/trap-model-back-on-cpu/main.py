import io

import torch
from torch import nn

torch.manual_seed(5)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
batch = torch.linspace(-1, 1, 32).view(8, 4).to(device)
for _ in range(3):
    loss = (model(batch) - batch.sum(dim=1, keepdim=True)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

# The file is read on machines without a GPU: the weights must be written from the CPU.
model.to("cpu")
model.eval()
file = io.BytesIO()
torch.save(model.state_dict(), file)

sample = batch[:1]
with torch.no_grad():
    reference = model(sample)
print("reference", round(reference.item(), 5))
assert all(parameter.device.type == "cpu" for parameter in model.parameters())
file.seek(0)
print(sorted(torch.load(file, weights_only=True)))
