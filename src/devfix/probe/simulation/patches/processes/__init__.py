"""Threads, processes and process groups with simulated GPUs."""
