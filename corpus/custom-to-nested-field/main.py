import torch
from torch.nn import functional as F

from batch import Batch

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.nn.Linear(2, 2).to(device)
batch = Batch(torch.linspace(0, 1, 8).view(4, 2), torch.tensor([0, 1, 1, 0]), torch.tensor([1.0, 2.0, 1.0, 0.5]))
batch = batch.to(device)
losses = F.cross_entropy(model(batch.rows), batch.labels, reduction="none")
print(round((losses * batch.weights).sum().item(), 5))
