"""Publish what a repair found, from its report alone, which is not trusted; nothing of the repository is run."""
