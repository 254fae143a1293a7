"""Operators that need a kernel of their own, and those that only CUDA has."""
