import torch

from scoring import score

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.nn.Linear(2, 1).to(device)

first = torch.tensor([[0.1, 0.2], [0.3, 0.4]])
early = score(model, first.to(device))
second = torch.tensor([[0.5, 0.6]])
late = score(model, second)
print(f"{early.mean().item():.4f} {late.mean().item():.4f}")
