"""Interfaces between PyTorch and code that only works on the host: NumPy, packing, generators, workers."""
