import torch

from layers import Layer

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
small, wide = Layer(4, 0.1).to(device).eval(), Layer(101, 0.1).to(device).eval()
print(small(torch.ones(2, 3, 4).to(device)).shape)
print(wide(torch.ones(2, 3, 101).to(device)).shape)
