import torch


def embed(timesteps, dim):
    half = dim // 2
    exponents = torch.arange(half, dtype=torch.float64, device=timesteps.device) / half
    frequencies = 2.0**-exponents
    return (timesteps[:, None] * frequencies[None]).float()


device = "mps" if torch.backends.mps.is_available() else "cpu"
print(embed(torch.tensor([1, 2], device=device), 4).shape)
