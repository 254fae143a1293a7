"""Detect writes into a tensor that others hold: after a copy they would be lost."""

from __future__ import annotations

import libcst as cst

from devfix.model import is_in_place
from devfix.source import File, last_name
from devfix.source.queries.reading import assignments


def is_written_below(file: File, node: cst.CSTNode, name: str) -> bool:
    """Return whether a function later writes into the object of a name that it was passed and did not create itself.

    A name that the function assigns may be bound to a copy, since no one else holds the object.

    >>> file = File("m.py", b"def f(caches, order):\\n    for cache in caches:\\n        cache[...] = cache[order]\\n")
    >>> read = file.find(file.module, "cache[order]")[0]
    >>> is_written_below(file, read, "cache"), is_written_below(file, read, "order")
    (True, False)
    """
    function = file.function_of(node)
    if function is None or assignments(file, name, function):
        return False
    first = file.line_of(file.statement_of(node) or node)
    return any(file.line_of(each) >= first and _writes(file, each, name) for each in file.within(function))


def _writes(file: File, node: cst.CSTNode, name: str) -> bool:
    """Return whether a node is `name[…] = …`, `name += …`, `name.add_(…)`, `F.relu_(name)` or `f(…, out=name)`."""
    if isinstance(node, cst.AssignTarget):
        return isinstance(node.target, cst.Subscript) and _is(file, node.target.value, name)
    if isinstance(node, cst.AugAssign):
        return _is(file, node.target, name)
    if isinstance(node, cst.Arg):
        return node.keyword is not None and node.keyword.value == "out" and _is(file, node.value, name)
    if isinstance(node, cst.Call):
        called = last_name(node.func)
        written = _write_target(file, node) if is_in_place(called) else None
        return written is not None and _is(file, written, name)
    return False


def _write_target(file: File, call: cst.Call) -> cst.BaseExpression | None:
    """Return what an in-place call writes into: the argument of an imported function, or a method's object."""
    if file.qualified_name(call.func):
        return call.args[0].value if call.args else None
    return call.func.value if isinstance(call.func, cst.Attribute) else None


def _is(file: File, node: cst.CSTNode, name: str) -> bool:
    """Return whether a node is the name, or a view of its value."""
    while isinstance(node, cst.Subscript) or (isinstance(node, cst.Attribute) and node.attr.value in ("data", "T")):
        node = node.value
    return isinstance(node, cst.BaseExpression) and file.code(node) == name
