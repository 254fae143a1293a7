"""Read in the code under test that it leaves something on the host on purpose: in docstrings, and of sizes.

A function that says so keeps its word on a machine with a GPU, too. The lengths of sequences are on the host for those
that want them there, such as `pack_padded_sequence`.
"""

from __future__ import annotations

import ast
import linecache
import re
from functools import lru_cache
from types import CodeType, FrameType

from .whose import Whose, kind_of

_ON_HOST = re.compile(
    r"\b(on|in|to|into) (the )?(host|CPU)\b(?! (or|and|as well|if|when|unless))|\b(host|CPU) (memory|tensors?)\b",
    re.IGNORECASE,
)
_MAKERS = frozenset({"tensor", "as_tensor", "asarray", "LongTensor", "IntTensor"})
_SIZES = frozenset({"size", "numel", "dim"})


def say_host(frame: FrameType, call: FrameType) -> bool:
    """Return whether a function that runs in a frame, or one of its callers up to `call`, says what is on the host."""
    at: FrameType | None = frame
    while at is not None:
        if kind_of(at.f_code) == Whose.CODE and (is_documented(at.f_code) or _class_says(at)):
            return True
        if at is call:
            break
        at = at.f_back
    return False


def class_says(kind: type) -> bool:
    """Return whether a class or its constructor says that something of it is on the host."""
    return is_host(kind.__doc__) or is_host(getattr(vars(kind).get("__init__"), "__doc__", None))


def _class_says(frame: FrameType) -> bool:
    """Return whether the class says so whose method runs in a frame."""
    first = frame.f_code.co_varnames[:1] if frame.f_code.co_argcount else ()
    owner = frame.f_locals.get(first[0]) if first == ("self",) else None
    return owner is not None and is_host(type(owner).__doc__)


def is_host(text: object) -> bool:
    """Return whether a docstring speaks of what is on the host."""
    return isinstance(text, str) and _speaks(text)


@lru_cache(maxsize=4096)
def _speaks(text: str) -> bool:
    return _ON_HOST.search(" ".join(text.split())) is not None


def is_documented(code: CodeType) -> bool:
    """Return whether the docstring of a function says that something is on the host."""
    first = code.co_consts[0] if code.co_consts else None
    return is_host(first)


@lru_cache(maxsize=1024)
def counts_sizes(path: str, line: int) -> bool:
    """Return whether the line makes a tensor of sizes alone: `torch.tensor([len(each) for each in batch])`."""
    found = False
    for call in _tree(path):
        if call.lineno <= line <= (call.end_lineno or call.lineno) and call.args and _name(call.func) in _MAKERS:
            found = _are_sizes(call.args[0])
    return found


@lru_cache(maxsize=64)
def _tree(path: str) -> list[ast.Call]:
    try:
        tree = ast.parse("".join(linecache.getlines(path)))
    except (SyntaxError, ValueError):
        return []
    return [each for each in ast.walk(tree) if isinstance(each, ast.Call)]


def _name(called: ast.expr) -> str:
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")


def _are_sizes(value: ast.expr) -> bool:
    if isinstance(value, (ast.ListComp, ast.GeneratorExp)):
        return _are_sizes(value.elt)
    if isinstance(value, (ast.List, ast.Tuple)):
        return bool(value.elts) and all(map(_are_sizes, value.elts))
    if isinstance(value, ast.Subscript):
        return isinstance(value.value, ast.Attribute) and value.value.attr == "shape"
    if isinstance(value, ast.Call):
        name = _name(value.func)
        if name in ("list", "map") and value.args:
            return _are_sizes(value.args[0]) or _name(value.args[0]) == "len"
        return name == "len" or name in _SIZES
    return False
