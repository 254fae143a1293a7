import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

model = nn.Sequential(nn.Linear(2, 6), nn.ReLU(), nn.Linear(6, 2))
weights = torch.tensor([1.0, 2.0])
criterion = nn.CrossEntropyLoss(weight=weights)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
rows = torch.linspace(-1, 1, 16).view(8, 2)
batches = list(zip(rows.split(4), (rows.sum(dim=1) > 0).long().split(4)))

for rows, labels in batches:  # training
    rows = rows.to(device)
    loss = criterion(model(rows), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"loss {loss.item():.4f}")

counts = torch.zeros(2)
with torch.no_grad():
    for rows, _ in batches:
        predicted = model(rows.to(device)).argmax(dim=1)
        counts.index_add_(0, predicted, torch.ones(len(predicted), device=device))
print(counts.tolist())
