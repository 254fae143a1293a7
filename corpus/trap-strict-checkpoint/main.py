import torch

from net import Refiner

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
refiner = Refiner().to(device)
print(tuple(refiner(torch.ones(1, 4, device=device)).shape))
