"""Objections to moving a whole table of pinned host memory for a few of its rows.

Memory is pinned so that parts of it are copied fast: the table itself is meant to stay.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.model import Failure
from devfix.verification.evidence import Objection
from devfix.verification.objections.code import Code, called_name, functions
from devfix.verification.objections.host.kept_on_purpose import MOVES, moved_attribute
from devfix.verification.objections.introduced import Introduced


def of_pinned_tables(what: Introduced, _failure: Failure, code: Code) -> Iterator[Objection]:
    """Yield the line that pins an attribute which a method now moves as a whole, to take rows of the copy."""
    name = moved_attribute(what) if what.kind == "call" and what.name in MOVES else ""
    if not name or not what.owner or what.function is None:
        return
    rows = (each.value for each in ast.walk(what.function) if isinstance(each, ast.Subscript))
    if not any(each is what.node for each in rows):
        return
    for path, tree in code.trees("pin_memory"):
        for owner, _, node in functions(tree):
            if owner != what.owner or not isinstance(node, ast.Assign) or not _pins(node.value):
                continue
            if f"self.{name}" in map(ast.unparse, node.targets):
                problem = f"{path}:{node.lineno} pins `{name}` in host memory"
                yield Objection("strong", f"{problem}, and all of it would be copied for a part")


def _pins(value: ast.expr) -> bool:
    """Return whether an expression pins memory: `x.pin_memory()`, or a factory with `pin_memory=True`."""
    calls = [each for each in ast.walk(value) if isinstance(each, ast.Call)]
    return any(called_name(each) == "pin_memory" or _asks_to_pin(each) for each in calls)


def _asks_to_pin(call: ast.Call) -> bool:
    given = (each.value for each in call.keywords if each.arg == "pin_memory")
    return any(not isinstance(each, ast.Constant) or bool(each.value) for each in given)
