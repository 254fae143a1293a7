"""List the files of a commit."""

from __future__ import annotations

import os
from typing import NamedTuple

from devfix.workspace.git.command import Git

SUBMODULE = "160000"
REGULAR = ("100644", "100755")


class Entry(NamedTuple):
    """A path at a commit: its git mode ("100644", "100755", "120000" a link, "160000" a submodule) and object id."""

    mode: str
    object_id: str


def list_commit(git: Git, commit: str) -> dict[str, Entry]:
    """Return every path at the commit, from the root of the repository."""
    found = {}
    for record in os.fsdecode(git.call("ls-tree", "-r", "-z", "--full-tree", commit)).split("\0"):
        details, _, path = record.partition("\t")
        if path:
            mode, _, object_id = details.split(" ")
            found[path] = Entry(mode, object_id)
    return found
