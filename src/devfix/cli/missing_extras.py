"""The requirements of an extra of devfix."""

from __future__ import annotations

import shlex
from importlib.metadata import PackageNotFoundError, requires

from packaging.requirements import Requirement


def extra_requirements(extra: str) -> str:
    """Return the requirements of an extra as arguments of `pip install`.

    devfix is not on a package index, so that `devfix[extra]` would not be found.
    """
    try:
        lines = requires("devfix") or []
    except PackageNotFoundError:  # run from sources that are not installed
        return f"'.[{extra}]' in a clone of devfix"
    needed = [each for each in map(Requirement, lines) if each.marker and "extra" in str(each.marker)]
    chosen = [each for each in needed if each.marker and each.marker.evaluate({"extra": extra})]
    return shlex.join(f"{each.name}{each.specifier}" for each in chosen)
