import torch

from branches import MultiTask

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = MultiTask(4, {"colour": 3, "shape": 2}).to(device)
rows = torch.linspace(0, 1, 8).view(2, 4).to(device)
for task in ("colour", "shape"):
    print(task, [round(value, 4) for value in model(rows, task)[0].tolist()])
