import torch

from encoding import one_hot

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
labels = torch.tensor([2, 0, 1, 2]).to(device)
scores = torch.linspace(-2, 2, 12).view(4, 3).to(device)
target = one_hot(labels, 3, off=0.1)
print(round(torch.nn.functional.cross_entropy(scores, target).item(), 5))
