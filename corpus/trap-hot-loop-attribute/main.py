import torch

from diffuse import Diffuse

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Diffuse(50).to(device)
heat = torch.zeros(1, 1, 9, device=device)
heat[0, 0, 4] = 1.0
with torch.no_grad():
    print([round(value, 4) for value in model(heat).flatten().tolist()])
