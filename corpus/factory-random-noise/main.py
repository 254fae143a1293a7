import torch

from diffusion import add_noise

torch.manual_seed(11)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
images = torch.zeros(1, 1, 2, 2, device=device)
for level in (0.1, 0.5):
    print([round(value, 4) for value in add_noise(images, level).flatten().tolist()])
