"""Gradients and autocast on simulated GPUs."""
