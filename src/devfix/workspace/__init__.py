"""The user's repository, and worktrees beside it in which programs run; the only package that uses git."""

from devfix.workspace.git.checkout import CheckoutError, check_out_commit
from devfix.workspace.git.clone import clone, hide_user, is_address
from devfix.workspace.git.command import GitError
from devfix.workspace.git.file_changes import CommitChanges, FileChange
from devfix.workspace.git.identity import Actor
from devfix.workspace.git.references import resolve
from devfix.workspace.git.remote import Remote, person, remote_address, repository_address
from devfix.workspace.repository import Repository
from devfix.workspace.worktrees.pool import Worktrees
from devfix.workspace.worktrees.worktree import Worktree

__all__ = [
    "Actor",
    "CheckoutError",
    "CommitChanges",
    "FileChange",
    "GitError",
    "Remote",
    "Repository",
    "Worktree",
    "Worktrees",
    "check_out_commit",
    "clone",
    "hide_user",
    "is_address",
    "person",
    "remote_address",
    "repository_address",
    "resolve",
]
