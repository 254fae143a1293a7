import torch
from torch.utils.data import DataLoader, TensorDataset

from loops import evaluate, train

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
features = torch.linspace(-1, 1, 32).view(16, 2)
loader = DataLoader(TensorDataset(features, (features[:, 0] > 0).long()), batch_size=8)
model = torch.nn.Linear(2, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for epoch in range(3):
    train(model, loader, optimizer, device)
    print(epoch, evaluate(model, loader, device))
