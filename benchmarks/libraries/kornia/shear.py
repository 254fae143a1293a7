import torch
from kornia.augmentation import RandomShear

device = "cuda" if torch.cuda.is_available() else "cpu"
augment = RandomShear(shear=(-5.0, 5.0), p=1.0)
augment.set_rng_device_and_dtype(device=torch.device(device), dtype=torch.float32)
print(augment(torch.rand(2, 3, 8, 8, device=device)).shape)
