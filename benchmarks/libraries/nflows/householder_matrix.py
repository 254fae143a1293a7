import torch
from nflows.transforms import HouseholderSequence

device = "cuda" if torch.cuda.is_available() else "cpu"
transform = HouseholderSequence(features=4, num_transforms=2).to(device)
print(transform.matrix())
