import torch

from clip import clip_rows

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
gradients = torch.tensor([[3.0, 4.0], [0.3, 0.4], [6.0, 8.0]], device=device)
print([round(value, 4) for value in clip_rows(gradients, 50).flatten().tolist()])
