import torch

from features import Deltas

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
deltas = Deltas(features=2).to(device)
signal = torch.linspace(0, 3, 14).square().view(1, 7, 2).to(device)
print(deltas(signal)[0, 3].tolist(), list(deltas.state_dict()))
