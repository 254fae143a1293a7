"""List the files of a commit, and write trees of changed files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
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


def write_tree(git: Git, parent: str | None, files: Mapping[str, bytes], mode_of: Callable[[str], str | None]) -> str:
    """Write the tree of `parent` (None: an empty one) with new contents of files, and return its id.

    `git` uses an index file of its own; `mode_of` returns the mode of a path in the parent, None for new files.
    """
    git.call("read-tree", parent or "--empty")
    rows = []
    for path, content in files.items():
        blob = git.text("hash-object", "-w", "--no-filters", "--stdin", given=content)
        rows.append(f"{mode_of(path) or '100644'} {blob}\t{path}\0")
    git.call("update-index", "-z", "--index-info", given=os.fsencode("".join(rows)))
    return git.text("write-tree")
