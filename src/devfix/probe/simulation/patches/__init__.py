"""Replacements of PyTorch's Python functions in a simulated world, one subject per module."""
