"""The destinations of verified fixes."""

from __future__ import annotations

from enum import Enum


class Taking(str, Enum):
    """The destination of verified fixes: commits on a new branch, the files of the working tree, or nowhere."""

    BRANCH = "branch"
    APPLY = "apply"
    NONE = "none"
