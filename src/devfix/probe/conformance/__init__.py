"""What a GPU really does, recorded; and what the simulated one does, so that both can be compared."""
