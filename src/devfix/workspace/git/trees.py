"""Write trees of changed files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from devfix.workspace.git.command import Git


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
