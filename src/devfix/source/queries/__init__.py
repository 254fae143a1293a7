"""Read names, calls, loops and assignments of a file."""
