"""A commit trailer that identifies commits created by devfix, and proves that they are unchanged."""

from __future__ import annotations

import hashlib
import re

_TRAILER = re.compile(rb"\nDevfix-Seal: ([0-9a-f]{40})\n?\Z")  # GitHub's API drops the last line feed


def add_seal(message: str, tree: str, parent: str) -> str:
    """Return the message with a trailer that is only valid for this tree, parent and message."""
    text = message.rstrip() + "\n"
    return f"{text}\nDevfix-Seal: {_seal(text.encode('utf-8', 'surrogateescape'), tree.encode(), parent.encode())}\n"


def remove_seal(message: str) -> str:
    """Return a message without its trailer."""
    return re.sub(r"\nDevfix-Seal: [0-9a-f]{40}\n?\Z", "", message)


def is_sealed(commit: bytes) -> bool:
    """Return whether a raw commit is as devfix created it: not amended, not rebased, not made by someone else.

    The trailer covers the parent's id, and so everything below: checking the tip of a branch is enough.
    """
    head, _, message = commit.partition(b"\n\n")
    fields = head.split(b"\n")
    trees = [line[5:] for line in fields if line.startswith(b"tree ")]
    parents = [line[7:] for line in fields if line.startswith(b"parent ")]
    found = _TRAILER.search(message)
    if found is None or len(trees) != 1 or len(parents) != 1:
        return False
    return _seal(message[: found.start()], trees[0], parents[0]).encode() == found[1]


def _seal(message: bytes, tree: bytes, parent: bytes) -> str:
    return hashlib.sha256(b"\0".join((message, tree, parent))).hexdigest()[:40]
