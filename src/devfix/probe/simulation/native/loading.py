"""Load the compiled hot paths, if there are any; without them the simulation runs in Python, with the same results."""

from __future__ import annotations

import os
from typing import Any

import torch

from . import cache

ONE, SIGN, VIEW, LIST, NUMBER, MANY, DETACH, FACTORY, ITEM = range(9)  # kinds of fast paths, as in paths.h
_loaded: list[Any] = []  # the extension, or None, once it has been asked for


def extension() -> Any:
    """Return the extension module, None where the simulation runs in Python; decided once in a process."""
    if not _loaded:
        try:
            _loaded.append(_load())
        except (ImportError, OSError, ValueError):  # no such file, or it is for another torch
            _loaded.append(None)
    return _loaded[0]


def _load() -> Any:
    wanted = os.environ.get(cache.SWITCH, "")
    if wanted == "0" or not cache.is_possible():
        return None
    path = wanted if os.sep in wanted else cache.file_for(os.path.dirname(torch.__file__))
    if not os.path.exists(path) or not cache.is_trusted(path):
        return None
    from importlib.machinery import ExtensionFileLoader
    from importlib.util import module_from_spec, spec_from_loader

    spec = spec_from_loader("devfix_native", ExtensionFileLoader("devfix_native", path))
    return module_from_spec(spec) if spec is not None else None


def configure(**objects: Any) -> None:
    """Give the extension objects of the probe, by name."""
    if _loaded and _loaded[0] is not None:
        _loaded[0].configure(objects)


def path(
    kind: int, original: Any, func: Any, taken: Any = None, number: int = -1, rest: Any = None, whole: bool = False
) -> Any:
    """Return a compiled fast path of a function, None where the simulation runs in Python.

    `number` is how many arguments ONE takes, which of them a result of MANY derives from, and what a FACTORY makes;
    `rest` runs all calls that the path leaves, if not the original. With `whole`, the function is a composite operator.
    """
    made = extension()
    return None if made is None else made.path(kind, original, func, taken, number, rest, whole)


def forget_plans() -> None:
    """Let the extension derive its plans of operators again."""
    if _loaded and _loaded[0] is not None:
        _loaded[0].forget()
