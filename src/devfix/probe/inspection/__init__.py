"""Read the variables and objects around a failure."""
