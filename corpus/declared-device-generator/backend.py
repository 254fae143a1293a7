import torch

from engine import load


class Model:
    """What the sampler knows of a model: its `device`, and that it maps tokens (batch, length) to scores."""

    def __init__(self, device):
        self.device = torch.device("cuda", device) if torch.cuda.is_available() else torch.device("cpu")
        self.network = load()

    def __call__(self, tokens):
        tokens = tokens.to(next(self.network.parameters()).device)
        return self.network(tokens)
