"""Recorded runs of cases, in the user's cache folder: a run is made once for a program, a torch build and a devfix."""
