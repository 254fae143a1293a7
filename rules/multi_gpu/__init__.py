"""Several GPUs: which of them is meant, and what flows from one to the next."""
