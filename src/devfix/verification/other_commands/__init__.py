"""Compare the repository's other commands before and after a patch."""
