"""The author and committer of commits."""

from __future__ import annotations

from collections.abc import Mapping

from git import Actor

from devfix.workspace.git.command import Git

__all__ = ["Actor", "as_author", "find_person"]

_NOBODY = Actor("devfix", "devfix@localhost")


def find_person(git: Git, environment: Mapping[str, str]) -> Actor:
    """Return who makes commits here, by the environment or git's configuration; devfix if neither says."""
    # By git itself: GitPython's reader ignores GIT_CONFIG_GLOBAL.
    name = environment.get("GIT_AUTHOR_NAME") or git.says("config", "user.name")
    email = environment.get("GIT_AUTHOR_EMAIL") or git.says("config", "user.email")
    return Actor(name, email) if name and email else _NOBODY


def as_author(person: Actor, date: str = "") -> dict[str, str]:
    """Return the environment in which git makes commits by this person, and at this date if given."""
    fields = {"NAME": person.name or "", "EMAIL": person.email or "", **({"DATE": date} if date else {})}
    return {f"GIT_{who}_{what}": text for who in ("AUTHOR", "COMMITTER") for what, text in fields.items()}
