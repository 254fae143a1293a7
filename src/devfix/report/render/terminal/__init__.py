"""Reports as text for terminals and for the log of a workflow."""
