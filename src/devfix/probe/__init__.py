"""Run inside the user's process, see its tensors, and write one letter home; torch and the standard library only."""
