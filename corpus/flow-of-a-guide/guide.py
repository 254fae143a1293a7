import torch
from torch import nn


class Planar(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.full((size,), 0.1))
        self.bias = nn.Parameter(torch.zeros(1))

    def forward(self, z):
        return z + self.weight * torch.tanh((self.weight * z).sum(-1, keepdim=True) + self.bias)


class AutoGuide(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.latent_dim = None

    def _setup(self, *args):
        self.latent_dim = self.model.latent_dim(*args)

    def forward(self, *args):
        if self.latent_dim is None:
            self._setup(*args)
        return self.sample_latent(*args)

    def sample_latent(self, *args):
        return self.get_posterior(*args)


class AutoFlow(AutoGuide):
    def __init__(self, model, init_flow):
        super().__init__(model)
        self._init_flow = init_flow
        self.flow = None
        self._prototype = torch.tensor(0.0)

    def get_base(self):
        loc = self._prototype.new_zeros(1)
        scale = self._prototype.new_ones(1)
        return loc.expand(self.latent_dim), scale.expand(self.latent_dim)

    def get_posterior(self, *args):
        if self.flow is None:
            self.flow = self._init_flow(self.latent_dim)
            # The base follows the flow's own parameters.
            for parameter in self.flow.parameters():
                self._prototype = parameter
                break
        loc, scale = self.get_base()
        return self.flow(loc + scale * torch.randn(self.latent_dim, device=loc.device))
