"""What the simulated world replaces in PyTorch's Python side, one subject a module."""
