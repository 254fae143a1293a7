import torch


def perplexity(losses):
    return losses.double().mean().exp()


device = "mps" if torch.backends.mps.is_available() else "cpu"
print(round(perplexity(torch.tensor([0.5, 0.5], device=device)).item(), 3))
