"""Find the line of the code under test that has made a tensor, in the call stack that its history keeps."""

from __future__ import annotations

from types import CodeType
from typing import Any

from ..provenance import places
from ..provenance.qualnames import qualname
from .whose import Whose, kind_of


def made_at(stack: Any, taken_by: type | None = None) -> tuple[str, int, str] | None:
    """Return where the code under test has made a tensor (path, line, function), None where it was test code.

    If a module of a class keeps it, that is where a method of the class has taken it from what made it.
    """
    found = None
    for at in range(0, len(stack), 2):
        kind = kind_of(stack[at])
        if kind == Whose.TEST:
            break
        if kind == Whose.CODE and (found is None or _is_method(stack[at], taken_by)):
            place = places.describe(stack[at], stack[at + 1])
            found = (place["path"], place["line"], place["function"])
            if taken_by is None or _is_method(stack[at], taken_by):
                break
    return found


def _is_method(code: CodeType, kind: type | None) -> bool:
    """Return whether a function is a method of a class, or of one that it derives from, by its name."""
    owners = () if kind is None else (each for each in kind.__mro__ if each.__module__.partition(".")[0] != "torch")
    return any(qualname(code).startswith(f"{each.__qualname__}.") for each in owners)
