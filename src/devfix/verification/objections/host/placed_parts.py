"""Objections to moving a module whole whose constructor places its parts on several devices.

A table may be left on the host because it is large, or the layers divided between GPUs: one move would undo that, and
so would the move of such a part.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.model import Failure
from devfix.verification.evidence import Objection
from devfix.verification.objections.code import Code, Function, called_name, functions
from devfix.verification.objections.host.kept_on_purpose import DTYPE, MOVES, moved_class
from devfix.verification.objections.introduced import Introduced, class_of


def of_placed_parts(what: Introduced, failure: Failure, code: Code) -> Iterator[Objection]:
    """Yield the constructor that places the parts of a module which is now moved whole, or the part that is moved."""
    if what.kind != "call" or what.name not in MOVES or not _stands_alone(what):
        return
    holder, _, part = what.root.rpartition(".")
    made = class_of(holder, what, failure)[0] if holder else ""
    yield from _of_constructor(made, part, code) if made else ()
    yield from _of_constructor(moved_class(what, failure), "", code)


def _stands_alone(what: Introduced) -> bool:
    """Return whether a move is of a module, which it changes, or of what a constructor returns: `Net().to(device)`."""
    held = (
        what.node.func.value if isinstance(what.node, ast.Call) and isinstance(what.node.func, ast.Attribute) else None
    )
    if isinstance(held, ast.Call):
        return True
    return what.function is None or any(
        isinstance(each, ast.Expr) and each.value is what.node for each in ast.walk(what.function)
    )


def _of_constructor(made: str, part: str, code: Code) -> Iterator[Objection]:
    """Yield the constructor of a class, or of a base, that places several parts, `part` among them."""
    family = {made} | code.ancestors(made) if made else set[str]()
    for path, tree in code.trees(*(f"class {each}" for each in family)) if family else ():
        for owner, _, node in functions(tree):
            if owner not in family or not isinstance(node, ast.FunctionDef) or node.name != "__init__":
                continue
            places = list(_places(node))
            if len({device for device, *_ in places}) > 1 and (not part or part in [name for _, name, _ in places]):
                problem = (
                    f"{path}:{min(line for *_, line in places)}: `{owner}` places its parts on their devices itself"
                )
                yield Objection("strong", f"{problem}, and this move would undo it")


def _places(constructor: Function) -> Iterator[tuple[str, str, int]]:
    """Yield the devices on which a constructor puts parts, each with the part and the line; two for one of a loop."""
    turns = {
        each.id
        for node in ast.walk(constructor)
        if isinstance(node, ast.For | ast.comprehension)
        for each in ast.walk(node.target)
        if isinstance(each, ast.Name)
    }
    for name, call in _moves(constructor):
        placed = call.args if called_name(call) in MOVES else []
        given = [*placed, *(each.value for each in call.keywords if each.arg == "device")]
        for device in given[:1]:
            text = ast.unparse(device).removeprefix("self.")
            if DTYPE.search(text):
                continue
            yield text, name, call.lineno
            if not turns.isdisjoint(each.id for each in ast.walk(device) if isinstance(each, ast.Name)):
                yield f"another {text}", name, call.lineno


def _moves(constructor: Function) -> Iterator[tuple[str, ast.Call]]:
    """Yield the moves of what is assigned to an attribute, and those that stand alone: `self.head.to(device)`.

    Parts that are made on a device count as well: `self.table = nn.Embedding(rows, width, device=table_device)`.
    """
    for node in ast.walk(constructor):
        inner: Iterator[ast.AST] = iter(())
        names = [each.attr for each in getattr(node, "targets", ()) if isinstance(each, ast.Attribute)]
        if isinstance(node, ast.Assign) and names:
            inner = ast.walk(node.value)
        elif isinstance(node, ast.Expr):
            inner = iter((node.value,))
        for each in inner:
            if not isinstance(each, ast.Call):
                continue
            if isinstance(each.func, ast.Attribute) and each.func.attr in MOVES:
                yield (names or [ast.unparse(each.func.value).removeprefix("self.")])[0], each
            elif names and called_name(each)[:1].isupper():
                yield names[0], each
