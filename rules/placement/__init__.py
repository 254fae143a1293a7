"""Tensors on another device than their peers: never moved, or created in the wrong place."""
