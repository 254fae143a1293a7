"""Find the attributes that a constructor gives its object by a computed name."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from devfix.source import File, last_name
from devfix.source.matches import match
from devfix.source.queries.reading import assignments

VIEWS = ("items", "values", "keys")
SEQUENCES = ("zip", "enumerate", "list", "tuple", "dict", "sorted", "reversed")


def set_by_name(file: File, holder: cst.ClassDef, name: str) -> Iterator[cst.Call]:
    """Yield the calls `setattr(self, …, value)` of a constructor that may set the attribute of a name.

    A value that the constructor was given is left out, since other callers may give a number.

    >>> lines = b"class A:\\n def __init__(self):\\n  for i in range(9): setattr(self, f'at_{i}', make(i))\\n"
    >>> file = File("m.py", lines)
    >>> [len(list(set_by_name(file, file.classes[0], name))) for name in ("at_1", "bias")]
    [1, 0]
    """
    constructors = (each for each in holder.body.body if isinstance(each, cst.FunctionDef))
    for function in constructors:
        for call in file.within(function, cst.Call) if function.name.value == "__init__" else ():
            found = match(call, "setattr(self, $NAME, $VALUE)")
            if found and _may_be(file, found["NAME"], name) and not _is_given(file, function, found["VALUE"]):
                yield call


def _may_be(file: File, written: cst.BaseExpression, name: str) -> bool:
    """Return whether an expression may be a name, as far as its own text says."""
    if isinstance(written, cst.SimpleString):
        return written.evaluated_value == name
    if not isinstance(written, cst.FormattedString):
        return True
    parts = (re.escape(each.value) if isinstance(each, cst.FormattedStringText) else ".*" for each in written.parts)
    return re.fullmatch("".join(parts), name) is not None


def _is_given(file: File, function: cst.FunctionDef, value: cst.BaseExpression, depth: int = 6) -> bool:
    """Return whether a value is a parameter of a function or a part of one, as it was passed."""
    if isinstance(value, cst.Attribute | cst.Subscript):
        return _is_given(file, function, value.value, depth)
    if isinstance(value, cst.Call):
        return any(_is_given(file, function, each, depth) for each in _passed_on(value))
    if isinstance(value, cst.Tuple | cst.List):
        return any(_is_given(file, function, each.value, depth) for each in value.elements)
    if not isinstance(value, cst.Name) or depth == 0:
        return False
    sources = [each.value for each in assignments(file, value.value, function) if each.value is not None]
    sources += [each.iter for each in _loops_over(file, function, value.value)]
    if sources:
        return any(_is_given(file, function, each, depth - 1) for each in sources)
    every = function.params
    starred = [each.name.value for each in (every.star_arg, every.star_kwarg) if isinstance(each, cst.Param)]
    plain = (each.name.value for each in (*every.posonly_params, *every.params, *every.kwonly_params))
    return value.value in (*plain, *starred)


def _passed_on(call: cst.Call) -> list[cst.BaseExpression]:
    """Return the expressions whose elements are those of a call's result: `tables` of `tables.items()`."""
    if isinstance(call.func, cst.Attribute):
        return [call.func.value] if call.func.attr.value in VIEWS else []
    return [each.value for each in call.args] if last_name(call.func) in SEQUENCES else []


def _loops_over(file: File, function: cst.FunctionDef, name: str) -> Iterator[cst.For | cst.CompFor]:
    """Yield the loops of a function that bind a name."""
    for each in file.within(function):
        if isinstance(each, cst.For | cst.CompFor) and file.find(each.target, name):
            yield each
