import torch

SEED = 5
DEVICE = torch.device("cuda")
