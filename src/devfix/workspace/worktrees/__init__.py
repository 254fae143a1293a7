"""Worktrees beside a repository, in which programs run."""
