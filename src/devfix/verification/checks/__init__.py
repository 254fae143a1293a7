"""Checks of a run with a patch against the run that failed."""
