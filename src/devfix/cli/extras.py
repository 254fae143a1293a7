"""Import what publishing takes, which is an extra, and say how to install what is missing."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from packaging.requirements import Requirement

from devfix.errors import UserError

# The extra in which the client of a forge is; detect-secrets is in each.
_EXTRAS = {"gitlab": "gitlab", "requests": "gitlab", "httpx": "forgejo"}


@contextmanager
def publishing() -> Iterator[None]:
    """Turn a missing package into a UserError that says how to install it."""
    try:
        yield
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        if name == "devfix":
            raise
        raise UserError(
            f"publishing needs {name}: pip install {extra_requirements(_EXTRAS.get(name, 'publish'))}"
        ) from error


def extra_requirements(extra: str) -> str:
    """Return the requirements of an extra as arguments of `pip install`.

    devfix is not on a package index, so that `devfix[extra]` would not be found.
    """
    from importlib.metadata import PackageNotFoundError, requires

    from packaging.requirements import Requirement

    try:
        lines = requires("devfix") or []
    except PackageNotFoundError:  # run from sources that are not installed
        return f"'.[{extra}]' in a clone of devfix"
    return shlex.join(_required_by([Requirement(line) for line in lines], extra))


def _required_by(requirements: list[Requirement], extra: str) -> Iterator[str]:
    for each in requirements:
        if not (each.marker and "extra" in str(each.marker) and each.marker.evaluate({"extra": extra})):
            continue
        if each.name == "devfix":
            for inner in sorted(each.extras):
                yield from _required_by(requirements, inner)
        else:
            extras = f"[{','.join(sorted(each.extras))}]" if each.extras else ""
            yield f"{each.name}{extras}{each.specifier}"
