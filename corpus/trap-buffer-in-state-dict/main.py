import torch

from normaliser import Normaliser

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Normaliser(2).to(device)
# Written long ago, by the code that shipped: it must load for ever.
old = {"linear.weight": torch.eye(2), "linear.bias": torch.zeros(2)}
model.load_state_dict(old)
print(model(torch.ones(1, 2, device=device)).tolist(), sorted(model.state_dict()))
