"""Write verified changes to the files of a working tree, and take the last ones back."""
