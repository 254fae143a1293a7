import torch

from bias import DistancePenalty

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
penalty = DistancePenalty(0.5).to(device)
for length in (4, 6, 3):
    scores = torch.ones(2, length, length, device=device)
    print(length, penalty(scores).sum().item())
