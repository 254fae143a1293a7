"""Objections to a buffer that a method writes, where DataParallel replicates the module.

Each forward pass copies the buffers of a module to the other GPUs and drops the copies afterwards: what a replica
writes into its own is lost (torch.nn.DataParallel's documentation). A plain attribute is one object, which all share.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.model import Failure
from devfix.verification.evidence import Objection
from devfix.verification.objections.code import Code, functions
from devfix.verification.objections.introduced import Introduced

_REPLICATING = ("DataParallel", "data_parallel", "replicate")


def of_replicas(what: Introduced, failure: Failure, code: Code) -> Iterator[Objection]:
    """Yield objections to a new buffer that a method of its class writes in a repository that replicates modules."""
    if what.kind != "buffer" or not what.owner:
        return
    replicated = next(_replications(code), "")
    if not replicated:
        return
    family = code.family(what.owner)
    for path, tree in code.trees(what.name):
        for owner, function, node in functions(tree):
            if owner in family and function and function.name != "__init__" and _writes(node, what.name):
                place = f"{path}:{getattr(node, 'lineno', 0)}"
                reason = (
                    f"{place} writes into `{what.name}`, of which each replica ({replicated}) has a copy as a buffer"
                )
                yield Objection("strong", f"{reason}: what the other replicas write is lost")


def _replications(code: Code) -> Iterator[str]:
    """Yield the places at which modules are replicated; DistributedDataParallel has one process for each GPU."""
    for path, tree in code.trees(*(f"{name}(" for name in _REPLICATING)):
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in _REPLICATING:
                yield f"{path}:{node.lineno}"


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
