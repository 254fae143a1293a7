"""Tensors that are not where the others are: never moved, or made in the wrong place."""
