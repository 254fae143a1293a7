import torch

from matching import match

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
first = torch.tensor([[0.0, 1.0], [2.0, 2.0], [5.0, 0.0]], device=device)
second = torch.tensor([[0.1, 1.0], [2.0, 2.4], [9.0, 9.0]], device=device)
print([[round(value, 3) for value in row] for row in match(first, second, 0.8).tolist()])
