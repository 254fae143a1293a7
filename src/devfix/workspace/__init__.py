"""The user's repository, and worktrees beside it in which a program may do what it likes; only this speaks git."""

from devfix.workspace.git import GitError
from devfix.workspace.remote import Remote, person, remote_address
from devfix.workspace.repository import Repository
from devfix.workspace.worktree import Worktree
from devfix.workspace.worktrees import Worktrees

__all__ = ["GitError", "Remote", "Repository", "Worktree", "Worktrees", "person", "remote_address"]
