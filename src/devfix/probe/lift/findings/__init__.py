"""Findings of a lifted run: marked failures, results on the host, modules and caches that keep tensors."""
