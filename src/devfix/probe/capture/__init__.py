"""Record failures and write the trace."""
