"""Ways of getting commits to the repository."""

from __future__ import annotations

from enum import Enum


class CommitMethod(str, Enum):
    """Pushed with git, or created by the API of the forge, which signs them."""

    git = "git"
    api = "api"
