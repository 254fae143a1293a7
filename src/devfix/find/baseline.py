"""Identify findings in a baseline: lines move, so the function and the rule stand for the place."""

from __future__ import annotations

from devfix.find.causes import RAISES
from devfix.find.records import Cause

Key = tuple[str, str, str]
Known = frozenset[Key]


def key_of(cause: Cause) -> Key:
    """Return the key of a cause."""
    return key(cause.kind, cause.place.path, cause.place.function, cause.rule)


def key(kind: str, path: str, function: str, rule: str) -> Key:
    """Return the key from its parts; which rule explains a silent finding depends on the run that confirms it."""
    return (kind, f"{path}:{function}", rule if kind == RAISES else "")
