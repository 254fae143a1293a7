"""Operators whose kernels for CUDA differ from those for the CPU."""
