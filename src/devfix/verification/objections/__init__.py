"""Static checks of a patch in code that no run has reached."""
