"""Recordings of what a real GPU does, compared with what the simulated one does."""
