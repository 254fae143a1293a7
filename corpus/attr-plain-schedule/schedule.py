import torch


class Scheduler:
    def __init__(self, steps=10):
        self.betas = torch.linspace(1e-4, 0.02, steps)
        self.alphas = 1.0 - self.betas
        self.alphas_cumprod = torch.cumprod(self.alphas, dim=0)
        self.steps = steps

    def add_noise(self, x, noise, t):
        kept = self.alphas_cumprod[t].sqrt().view(-1, 1)
        rest = (1 - self.alphas_cumprod[t]).sqrt().view(-1, 1)
        return kept * x + rest * noise

    def step(self, predicted, t, x):
        return (x - self.betas[t].view(-1, 1) * predicted) / self.alphas[t].view(-1, 1).sqrt()
