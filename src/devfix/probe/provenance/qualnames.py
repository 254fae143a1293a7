"""Qualified names of functions, which code objects of Python 3.10 lack."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Iterator
from types import CodeType

COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})


def qualname(code: CodeType) -> str:
    """Return a code object's full name, as `co_qualname` has it: "Model.forward", "main.<locals>.step"."""
    name = getattr(code, "co_qualname", "")
    return name or names_in(code.co_filename).get((code.co_name, code.co_firstlineno), code.co_name)


@functools.cache
def names_in(path: str) -> dict[tuple[str, int], str]:
    """Return the qualified names of everything that a file defines, by bare name and first line; {} if unreadable."""
    try:
        with open(path, "rb") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the program has already shown these warnings
            return dict(_within(compile(file.read(), path, "exec", dont_inherit=True), ""))
    except (OSError, SyntaxError, ValueError, RecursionError):
        return {}


def _within(code: CodeType, prefix: str) -> Iterator[tuple[tuple[str, int], str]]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            name = prefix + each.co_name
            yield (each.co_name, each.co_firstlineno), name
            # What a class or a comprehension contains is not qualified with <locals>.
            is_function = each.co_flags & inspect.CO_OPTIMIZED and each.co_name not in COMPREHENSIONS
            yield from _within(each, f"{name}.<locals>." if is_function else f"{name}.")
