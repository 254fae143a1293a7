import torch

from average import MovingAverage

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.nn.Linear(2, 1).to(device)
average = MovingAverage(model, decay=0.5, device="cpu")
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
rows = torch.tensor([[1.0, 2.0], [3.0, 4.0]], device=device)
for _ in range(3):
    loss = model(rows).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    average.update(model)
print([round(each.sum().item(), 4) for each in average.module.parameters()])
assert next(average.module.parameters()).device.type == "cpu"
