"""Git commands, repositories and remotes."""
