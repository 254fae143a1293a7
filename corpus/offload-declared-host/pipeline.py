import torch
from torch import nn


class Pipeline:
    """Keeps its network on the host and brings it to `execution_device` while it works."""

    def __init__(self, network: nn.Module, execution_device: torch.device):
        self.network = network
        self.execution_device = execution_device

    @property
    def device(self) -> torch.device:
        return next(self.network.parameters()).device

    def __call__(self, prompt: torch.Tensor) -> torch.Tensor:
        device = self.device
        self.network.to(self.execution_device)
        hidden = self.network(prompt.to(self.execution_device))
        noise = torch.zeros(hidden.shape, device=device)
        result = (hidden + noise).cpu()
        self.network.to("cpu")
        return result
