"""Several GPUs: which of them is meant, and what is passed from one to the next."""
