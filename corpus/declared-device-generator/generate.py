import torch

from backend import Model
from sampler import beam_search

gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
model = Model(device=max(gpus - 1, 0))
with torch.no_grad():
    beams = beam_search(model, torch.tensor([[1, 2, 3]]), beams=2, steps=3)
print(beams.tolist())
