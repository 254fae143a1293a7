"""Errors that devices raise: tensors on several devices, and what kernels refuse."""
