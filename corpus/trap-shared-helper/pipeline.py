import torch

from windows import fade_in, to_model

recording = torch.ones(16)
prepared = fade_in(recording)
assert prepared.device.type == "cpu"
moved = to_model(prepared)
print(prepared.sum().item(), fade_in(moved).sum().item())
