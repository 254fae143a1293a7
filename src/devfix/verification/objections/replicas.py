"""Objections to a buffer of which each process or GPU needs its own value, where a module is replicated.

Each forward pass of DataParallel copies the buffers of a module to the other GPUs and drops the copies afterwards: what
a replica writes into its own is lost. DistributedDataParallel gives the buffers of rank 0 to all processes, unless it
is told not to (`broadcast_buffers`). A plain attribute is one object, which the threads of a process share.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from devfix.model import Failure
from devfix.verification.evidence import Objection
from devfix.verification.objections.callers import passed_values
from devfix.verification.objections.code import Code, called_name, functions
from devfix.verification.objections.introduced import Introduced

_REPLICATING = ("DataParallel", "data_parallel", "replicate")
_BROADCASTING = ("DistributedDataParallel", "DDP")
_OF_RANK = re.compile(r"(^|_|\b)rank\b")


def of_replicas(what: Introduced, failure: Failure, code: Code) -> Iterator[Objection]:
    """Yield objections to a new buffer that a method of its class writes, or that differs between processes."""
    if what.kind != "buffer" or not what.owner:
        return
    replicated, distributed = next(_calls(_REPLICATING, code), ""), next(_calls(_BROADCASTING, code), "")
    if not replicated and not distributed:
        return
    family = code.family(what.owner)
    for path, tree in code.trees(what.name):
        for owner, function, node in functions(tree):
            if owner in family and function and function.name != "__init__" and _writes(node, what.name):
                place = f"{path}:{getattr(node, 'lineno', 0)}"
                if replicated:
                    copied = f"of which each replica ({replicated}) has a copy as a buffer"
                    yield Objection(
                        "strong", f"{place} writes into `{what.name}`, {copied}: what the other replicas write is lost"
                    )
                else:
                    copied = _given_by_rank_0(distributed)
                    yield Objection(
                        "weak", f"{place} writes into `{what.name}`, {copied}: what others write is overwritten"
                    )
    if distributed and (found := _of_rank(what, code)):
        yield Objection("strong", f"{found}, {_given_by_rank_0(distributed)}: the others lose their own value")


def _given_by_rank_0(place: str) -> str:
    return f"which as a buffer is the one of rank 0 in all processes ({place})"


def _calls(names: tuple[str, ...], code: Code) -> Iterator[str]:
    """Yield the places at which modules are replicated."""
    for path, tree in code.trees(*(f"{name}(" for name in names)):
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and called_name(node) in names:
                kept = next((each.value for each in node.keywords if each.arg == "broadcast_buffers"), None)
                if not (isinstance(kept, ast.Constant) and kept.value is False):
                    yield f"{path}:{node.lineno}"


def _of_rank(what: Introduced, code: Code) -> str:
    """Return where the value of a buffer depends on the rank of its process; "" if it does not."""
    value = what.node.args[1] if isinstance(what.node, ast.Call) and len(what.node.args) > 1 else None
    if value is None or what.function is None:
        return ""
    if _OF_RANK.search(ast.unparse(value)):
        return f"{what.path}:{value.lineno} makes `{what.name}` for the rank of the process"
    for name in sorted({each.id for each in ast.walk(value) if isinstance(each, ast.Name)}):
        for path, call, given, _ in passed_values(what.path, what.owner, what.function, name, code):
            if _OF_RANK.search(ast.unparse(given)):
                passed = f"`{ast.unparse(given)}` as `{name}`"
                return f"{path}:{call.lineno} passes {passed}, of which `{what.name}` is made"
    return ""


def _writes(node: ast.AST, name: str) -> bool:
    """Return whether a node writes into `self.name`: by an operator, by an index, or by a method that ends in `_`."""
    if isinstance(node, ast.AugAssign):
        return _is_of(node.target, name)
    if isinstance(node, ast.Assign):
        return any(isinstance(each, ast.Subscript | ast.Attribute) and _is_of(each, name) for each in node.targets)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr.endswith("_") and not node.func.attr.endswith("__") and _is_of(node.func.value, name)
    return False


def _is_of(node: ast.expr, name: str) -> bool:
    while isinstance(node, ast.Subscript):
        node = node.value
    return ast.unparse(node) == f"self.{name}"
