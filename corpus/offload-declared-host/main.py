import torch
from torch import nn

from pipeline import Pipeline

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
pipeline = Pipeline(nn.Linear(3, 2), device)
for value in (0.5, 1.0):
    print(round(pipeline(torch.full((1, 3), value)).sum().item(), 5))
