"""Simulated tensors: shells, the values inside them, and the memory that they occupy."""
