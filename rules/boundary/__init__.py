"""Between PyTorch and code that works on the host only: NumPy, packing, generators, workers."""
