import torch
from kornia.augmentation import RandomLinearCornerIllumination

device = "cuda" if torch.cuda.is_available() else "cpu"
augment = RandomLinearCornerIllumination(gain=(0.01, 0.2), p=1.0)
augment.set_rng_device_and_dtype(device=torch.device(device), dtype=torch.float32)
print(augment(torch.rand(2, 3, 8, 8, device=device)).shape)
