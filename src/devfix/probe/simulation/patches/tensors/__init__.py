"""Tensors on simulated GPUs: construction, conversion, storage and attributes."""
