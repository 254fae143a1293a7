"""TorchScript, tracing and `torch.compile` on simulated GPUs."""
