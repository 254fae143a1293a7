"""The requirements of an extra of devfix."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
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
    return shlex.join(_listed([Requirement(line) for line in lines], extra))


def _listed(requirements: list[Requirement], extra: str) -> Iterator[str]:
    for each in requirements:
        if not (each.marker and "extra" in str(each.marker) and each.marker.evaluate({"extra": extra})):
            continue
        if each.name == "devfix":
            for inner in sorted(each.extras):
                yield from _listed(requirements, inner)
        else:
            extras = f"[{','.join(sorted(each.extras))}]" if each.extras else ""
            yield f"{each.name}{extras}{each.specifier}"
