"""What an extra of devfix takes, for who lacks it."""

from __future__ import annotations

import shlex
from importlib.metadata import PackageNotFoundError, requires

from packaging.requirements import Requirement


def extra_requirements(extra: str) -> str:
    """Return what pip is told to install for an extra, as words of a shell.

    devfix itself is on no package index, so that its own name with the extra would not be found there.
    """
    try:
        lines = requires("devfix") or []
    except PackageNotFoundError:  # a copy of the sources that was never installed
        return f"'.[{extra}]' in a clone of devfix"
    needed = [each for each in map(Requirement, lines) if each.marker and "extra" in str(each.marker)]
    chosen = [each for each in needed if each.marker and each.marker.evaluate({"extra": extra})]
    return shlex.join(f"{each.name}{each.specifier}" for each in chosen)
