import torch
from torch import nn

from classifier import Classifier

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Classifier().to(device)
rows = torch.linspace(-2, 2, 15).view(5, 3).to(device)
labels = torch.tensor([0, 1, 2, 3, 0], device=device)

# One temperature for each class, fitted after training.
model.temperature = nn.Parameter(torch.full((4,), 1.5))
optimizer = torch.optim.LBFGS([model.temperature], lr=0.1, max_iter=5)


def closure():
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(rows), labels)
    loss.backward()
    return loss


print(round(optimizer.step(closure).item(), 4))
assert isinstance(model.temperature, nn.Parameter)
