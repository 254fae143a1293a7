"""A process that has imported torch, and forks one child for each program."""
