"""A baseline: the findings that are known already. Lines move, so the function and the rule stand for the place."""

from __future__ import annotations

import json
from pathlib import Path

from devfix.errors import UserError
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


def read_baseline(path: Path | None) -> Known:
    """Return what the findings of a baseline are known by; UserError where the file is none."""
    if path is None:
        return frozenset()
    try:
        raw = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UserError(f"--baseline {path}: {error.strerror or error}; make one with --format json") from None
    except ValueError:
        raise UserError(f"--baseline {path}: no JSON; make one with `devfix find --format json > {path}`") from None
    if not isinstance(raw, dict) or raw.get("schema") != "devfix-find/1":
        raise UserError(f"--baseline {path}: no report of devfix find; make one with `devfix find --format json`")
    if raw.get("error"):
        raise UserError(f"--baseline {path}: a search that failed, and knows no findings; make one that succeeds")
    found = [*raw.get("findings", ()), *raw.get("known", ())]
    return frozenset(key(each["kind"], each["path"], each["function"], each["rule"]) for each in found)
