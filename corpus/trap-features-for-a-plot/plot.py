import torch

data = torch.load("features.pt")
print((data["features"] - data["mean"]).numpy().shape)
