"""The user's repository, and worktrees beside it in which programs run; the only package that uses git."""

from devfix.workspace.git.clone import clone, is_address
from devfix.workspace.git.command import GitError
from devfix.workspace.git.file_changes import CommitChanges, FileChange
from devfix.workspace.git.identity import Actor
from devfix.workspace.git.remote import Remote, person, remote_address, repository_address
from devfix.workspace.git.repository import Repository
from devfix.workspace.worktrees.pool import Worktrees
from devfix.workspace.worktrees.worktree import Worktree

__all__ = [
    "Actor",
    "CommitChanges",
    "FileChange",
    "GitError",
    "Remote",
    "Repository",
    "Worktree",
    "Worktrees",
    "clone",
    "is_address",
    "person",
    "remote_address",
    "repository_address",
]
