"""Objections to a method of what an object's attribute holds, where the attribute is None in other cases."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from devfix.model import Failure
from devfix.verification.evidence import Objection
from devfix.verification.objections.code import Code, functions
from devfix.verification.objections.introduced import Introduced, class_of


def of_left_none(what: Introduced, failure: Failure, code: Code) -> Iterator[Objection]:
    """Yield assignments of None in one of two cases to an attribute of which the function asks nothing before.

    Where no class of the object is known to assign it, all classes that assign such an attribute have to do so.
    """
    holder, _, name = what.root.rpartition(".")
    function = ast.unparse(what.function) if what.function is not None else ""
    asked = re.search(rf"\b(if|and|or|not|while) {re.escape(what.root)}(?![\w.])", function)
    if what.kind != "call" or not holder or not name.isidentifier() or asked:
        return
    owner, _ = class_of(holder, what, failure)
    every = list(_find_assignments(name, code))
    own = [each for each in every if owner and each[0] in code.family(owner)]
    if own or all(is_left for *_, is_left in every):
        for _, place, is_left in own or every:
            if is_left:
                problem = f"{place} leaves `{name}` None in one of two cases"
                yield Objection("strong", f"{problem}, which has no `.{what.name}`")


def _find_assignments(name: str, code: Code) -> Iterator[tuple[str, str, bool]]:
    """Yield the class, the place, and whether one of two values is None, of each assignment to an object's own name."""
    for path, tree in code.trees(f"self.{name}"):
        for owner, _, node in functions(tree):
            if isinstance(node, ast.Assign) and f"self.{name}" in map(ast.unparse, node.targets):
                cases = (node.value.body, node.value.orelse) if isinstance(node.value, ast.IfExp) else ()
                is_left = any(isinstance(case, ast.Constant) and case.value is None for case in cases)
                yield owner, f"{path}:{node.lineno}", is_left
