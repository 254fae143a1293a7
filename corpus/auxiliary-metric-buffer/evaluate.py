import torch

from metric import ConfusionMatrix

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.nn.Linear(2, 3).to(device)
confusion = ConfusionMatrix(3)
with torch.no_grad():
    for batch in range(2):
        rows = torch.linspace(-2, 2, 16).view(8, 2).to(device) + batch
        labels = torch.arange(8, device=device) % 3
        confusion.update(model(rows).argmax(dim=1), labels)
print(confusion.accuracy().item())
