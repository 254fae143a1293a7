import torch

from anchors import anchors

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
sizes = torch.tensor([16.0, 64.0], device=device)
print(anchors(sizes, [0.25, 1.0]).tolist())
