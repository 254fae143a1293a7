"""Find what an edit introduces into a file: buffers, registered modules, method calls, attribute reads."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from devfix.model import Edit

Kind = Literal["buffer", "modules", "parameter", "call", "read", "device"]
MOVES = frozenset({"to", "cpu", "cuda", "numpy", "detach", "clone"})


@dataclass(frozen=True)
class Introduced:
    """One thing that an edit introduces.

    "buffer", "modules" (a ModuleList or ModuleDict) and "parameter": the class `owner` now registers its attribute
    `name`. "call": the method `name` is called on the expression `root`. "read": the attribute `name` of `root` is
    read. "device": a device is passed to the call `name`. `function` is the enclosing function, None at module level.
    """

    kind: Kind
    path: str
    name: str
    root: str = ""
    owner: str = ""
    function: ast.FunctionDef | ast.AsyncFunctionDef | None = None
    node: ast.AST | None = None
    is_persistent: bool = False


def introduced(edits: Sequence[Edit]) -> Iterator[Introduced]:
    """Yield what edits introduce; nothing for a file that does not parse."""
    for edit in edits:
        try:
            before, after = ast.parse(edit.before), ast.parse(edit.after)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        known = Counter(_key(each) for each in _found(edit.path, before))
        for each in _found(edit.path, after):
            if known[_key(each)] > 0:
                known[_key(each)] -= 1
            else:
                yield each


def _key(each: Introduced) -> tuple[str, ...]:
    where = each.function.name if each.function is not None else ""
    return each.kind, each.name, each.root, each.owner, where


def _found(path: str, tree: ast.Module) -> Iterator[Introduced]:
    yield from _below(path, tree, "", None)


def _below(
    path: str, node: ast.AST, owner: str, function: ast.FunctionDef | ast.AsyncFunctionDef | None
) -> Iterator[Introduced]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield from _below(path, child, child.name, None)
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _below(path, child, owner, child)
        else:
            yield from _of(path, child, owner, function)
            yield from _below(path, child, owner, function)


def _of(
    path: str, node: ast.AST, owner: str, function: ast.FunctionDef | ast.AsyncFunctionDef | None
) -> Iterator[Introduced]:
    def introduces(kind: Kind, name: str, root: str = "", is_persistent: bool = False) -> Introduced:
        return Introduced(kind, path, name, root, owner, function, node, is_persistent)

    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        root = ast.unparse(node.func.value)
        name = node.func.attr
        if name in ("register_buffer", "register_parameter") and node.args:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                persistent = next((each.value for each in node.keywords if each.arg == "persistent"), None)
                stays_out = isinstance(persistent, ast.Constant) and persistent.value is False
                yield introduces(
                    "buffer" if name == "register_buffer" else "parameter", first.value, root, not stays_out
                )
        elif name in MOVES:
            yield introduces("call", name, root)
    if isinstance(node, ast.Call) and any(each.arg == "device" for each in node.keywords):
        device = next(each.value for each in node.keywords if each.arg == "device")
        yield introduces("device", ast.unparse(node.func), ast.unparse(device))
    if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Call):
        called = ast.unparse(node.value.func).rpartition(".")[2]
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            if isinstance(target, ast.Attribute) and called in ("ModuleList", "ModuleDict", "Parameter"):
                yield introduces(
                    "parameter" if called == "Parameter" else "modules", target.attr, ast.unparse(target.value)
                )
    is_read = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
    if is_read and isinstance(node, ast.Attribute) and (isinstance(node.value, ast.Attribute) or node.attr == "device"):
        yield introduces("read", node.attr, ast.unparse(node.value))
