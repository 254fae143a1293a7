"""The kinds of forges."""

from __future__ import annotations

from enum import Enum


class ForgeKind(str, Enum):
    """A kind of forge, as `--forge` names it."""

    github = "github"
    gitlab = "gitlab"
    forgejo = "forgejo"
    gitea = "gitea"
