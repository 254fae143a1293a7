"""A process with torch imported, which forks one child for each program."""
