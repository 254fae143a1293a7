import torch

from smooth import smooth

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
scores = torch.sin(torch.arange(8, device=device).float())
prior = torch.full((8,), 0.5, device=device)
print([round(value, 4) for value in (smooth(scores, 3) * prior).tolist()])
