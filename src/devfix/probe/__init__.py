"""Runs inside the user's process, records its tensors, and writes a trace; only uses torch and the standard library."""
