import torch

from boxes import absolute, relative

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
boxes = torch.tensor([[0.0, 8.0, 16.0, 24.0], [4.0, 4.0, 8.0, 8.0]], device=device)
fractions = relative(boxes, 32, 32)
print(fractions.tolist())
print(absolute(fractions, 64, 64).tolist())
