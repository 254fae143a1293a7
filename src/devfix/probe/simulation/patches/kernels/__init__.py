"""Operators whose CUDA kernels differ from the CPU's."""
