"""Objections to making the items of a data set on a GPU.

The workers of a loader run this code: each would start CUDA, which a forked process cannot, and a batch of such items
cannot be pinned.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.model import Failure, SourceLocation
from devfix.verification.evidence import Objection, Strength
from devfix.verification.objections.code import Code, functions
from devfix.verification.objections.host.kept_on_purpose import DTYPE, MOVES
from devfix.verification.objections.introduced import Introduced

ITEMS = frozenset({"__getitem__", "__getitems__", "__iter__", "__next__"})
HOST = frozenset({'"cpu"', "'cpu'", "torch.device('cpu')"})


def of_loader_items(what: Introduced, failure: Failure, code: Code) -> Iterator[Objection]:
    """Yield the method of a data set that now makes what it returns on a device.

    Where the method itself failed, its data may be there already; else the data were moved for what failed. Nothing
    speaks against it where the method places other data too.
    """
    if what.kind not in ("device", "call") or not _places(what.node):
        return
    if what.function is None or what.function.name not in ITEMS or not what.owner:
        return
    tree = code.committed_tree(what.path)
    before = [
        node
        for owner, function, node in (functions(tree) if tree is not None else ())
        if owner == what.owner and function is not None and function.name == what.function.name
    ]
    if not any(map(_places, before)) and any(each.endswith("Dataset") for each in code.ancestors(what.owner)):
        place = f"{what.path}:{getattr(what.node, 'lineno', what.function.lineno)}"
        has_failed = any(_is_in(each.place, what.path, what.function.name) for each in failure.frames)
        strength: Strength = "weak" if has_failed else "strong"
        yield Objection(
            strength, f"{place}: `{what.owner}` would make items on a GPU, in the workers of its loader too"
        )


def _is_in(place: SourceLocation, path: str, function: str) -> bool:
    return place.path == path and place.function.rpartition(".")[2] == function


def _places(node: ast.AST | None) -> bool:
    """Return whether a node is a call that names a device which is not the host: `zeros(3, device=d)`, `x.to(d)`."""
    if not isinstance(node, ast.Call):
        return False
    moves = isinstance(node.func, ast.Attribute) and node.func.attr in MOVES
    given = [each.value for each in node.keywords if each.arg == "device"] + (node.args[:1] if moves else [])
    devices = [text for each in given if not DTYPE.search(text := ast.unparse(each))]
    return any(text not in HOST for text in devices) or (moves and not given)
