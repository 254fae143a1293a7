import torch
from torch import nn


def collect(model, device):
    features, total = torch.zeros(4, 3), torch.zeros(3)
    for index in range(4):
        out = model(torch.full((2,), float(index), device=device)).detach()
        total = total + out
        features[index] = out
    return features, total / 4


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
features, mean = collect(nn.Linear(2, 3).to(device), device)
torch.save({"features": features, "mean": mean}, "features.pt")
print(features.shape, round(mean.sum().item(), 3))
