"""Objections to a copy that the code below writes into: the tensor that it was copied from does not get the values."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.model import Failure, is_in_place
from devfix.verification.evidence import Objection
from devfix.verification.objections.assignments import assigned_pairs
from devfix.verification.objections.code import Code, Function
from devfix.verification.objections.introduced import Introduced

Node = ast.stmt | ast.expr
_MOVES = ("to", "cuda", "cpu")
_KEEPING = frozenset({"append", "appendleft", "extend", "insert", "add", "update", "setattr", "put", "copy_", "set_"})


def of_written_copies(what: Introduced, failure: Failure, code: Code) -> Iterator[Objection]:
    """Yield the write into a local copy of a tensor that something else holds, and that nothing puts back there.

    An object, a container or the caller holds it. What is returned or kept reaches them. Of a container and the caller
    it is not known whether they need it, so nothing may read the copy later: a batch is normalized, and then used.
    """
    function, moved = what.function, what.node
    if what.kind != "call" or what.name not in _MOVES or function is None or not isinstance(moved, ast.Call):
        return
    name = _name_of(moved, function)
    if name is None:
        return
    below = [each for each in ast.walk(function) if isinstance(each, ast.stmt | ast.expr)]
    below = [each for each in below if each.lineno > moved.lineno]
    writes = sorted((each for each in below if _is_write(each, name)), key=lambda each: each.lineno)
    holder = _holder(what.root, name, function)
    if not writes or not holder or any(_keeps(each, name) for each in below):
        return
    if not holder.startswith("`self.") and _is_read_after(below, name, writes):
        return
    place = f"{what.path}:{writes[0].lineno} writes to `{name}`, now a copy of what {holder} holds"
    yield Objection("strong", f"{place}: what is written is lost")


def _name_of(moved: ast.Call, function: Function) -> str | None:
    """Return the name that a moved tensor gets in a function; None if it gets none."""
    text = ast.unparse(moved)
    pairs = (pair for each in ast.walk(function) for pair in assigned_pairs(each))
    here = ((target, value) for target, value in pairs if value.lineno == moved.lineno)
    return next((one.id for one, value in here if isinstance(one, ast.Name) and ast.unparse(value) == text), None)


def _holder(root: str, name: str, function: Function) -> str:
    """Return what holds the tensor that was copied, beside the name; "" if nothing is known to."""
    if root != name:
        return _kept_in(ast.parse(root, mode="eval").body)
    loops = (each for each in ast.walk(function) if isinstance(each, ast.For | ast.AsyncFor))
    for each in loops:
        if any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(each.target)):
            return f"`{ast.unparse(each.iter)}`"
    given = function.args
    if name in (each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)):
        return "its caller"
    values = (value for each in ast.walk(function) for target, value in assigned_pairs(each) if _is(target, name))
    return next(filter(None, map(_kept_in, values)), "")


def _kept_in(value: ast.expr) -> str:
    """Return the attribute or element that an expression reads; "" for another expression."""
    is_kept = isinstance(value, ast.Attribute) or (isinstance(value, ast.Subscript) and not _is_part(value))
    return f"`{ast.unparse(value)}`" if is_kept else ""


def _is_part(value: ast.Subscript) -> bool:
    """Return whether an index is that of a part of a tensor, such as `x[:, 0]`, or of a list."""
    return any(isinstance(each, ast.Slice) for each in ast.walk(value.slice))


def _is_write(node: ast.AST, name: str) -> bool:
    """Return whether a node writes into the tensor of a name: `x.add_(1)`, `x += 1`, `x[0] = 1`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return is_in_place(node.func.attr) and _is(_whole(node.func.value), name)
    if isinstance(node, ast.AugAssign):
        return _is(_whole(node.target), name)
    return isinstance(node, ast.Assign) and any(
        isinstance(each, ast.Subscript) and _is(_whole(each), name) for each in node.targets
    )


def _keeps(node: ast.AST, name: str) -> bool:
    """Return whether a node returns the tensor of a name, or puts it somewhere."""
    if isinstance(node, ast.Return | ast.Yield):
        return node.value is not None and _has(node.value, name)
    if isinstance(node, ast.Call):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
        return called in _KEEPING and any(_has(each, name) for each in node.args)
    return any(
        isinstance(target, ast.Attribute | ast.Subscript) and not _is(_whole(target), name) and _has(value, name)
        for target, value in assigned_pairs(node)
    )


def _is_read_after(below: list[Node], name: str, writes: list[Node]) -> bool:
    """Return whether anything but the writes reads a name after the first of them."""
    inside = {id(inner) for each in writes for inner in ast.walk(each)}
    later = (each for each in below if each.lineno > writes[0].lineno and id(each) not in inside)
    return any(_is(each, name) for each in later)


def _has(value: ast.AST, name: str) -> bool:
    return any(_is(each, name) for each in ast.walk(value))


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _whole(value: ast.expr) -> ast.expr:
    """Return what a chain of in-place methods, views and elements starts from: `x` of `x[0].mul_(2).add_(1)`."""
    while True:
        if isinstance(value, ast.Subscript) or (isinstance(value, ast.Attribute) and value.attr == "data"):
            value = value.value
        elif isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and is_in_place(value.func.attr):
            value = value.func.value
        else:
            return value
