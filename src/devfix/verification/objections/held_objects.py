"""Find the class of the object of which an edit reads an attribute: `options` of `options.weights.to(x.device)`."""

from __future__ import annotations

import ast
import re

from devfix.model import Failure
from devfix.verification.objections.code import module_of
from devfix.verification.objections.introduced import Introduced
from devfix.verification.objections.value_kinds import annotation_of


def class_of(holder: str, what: Introduced, failure: Failure) -> tuple[str, str]:
    """Return the class of an expression where something is introduced, and the module of that class; "" if unknown.

    The run that failed had the object in scope, else a parameter's annotation or an assignment names the class.
    """
    if holder == "self":
        return what.owner, module_of(what.path)
    scopes = [(frame.place, frame.scope) for frame in reversed(failure.frames)] + list(failure.scopes)
    for place, scope in scopes:
        for each in scope if place.path == what.path else ():
            if each.expression == holder and each.kind in ("object", "instance", "module"):
                full = next((one for one in each.classes if one.rpartition(".")[2] == each.type), each.type)
                return each.type, full.rpartition(".")[0].rpartition(".")[2]
    return _named(holder, what), ""


def _named(holder: str, what: Introduced) -> str:
    """Return the class that the source names for an expression."""
    if what.function is None:
        return ""
    if annotation := annotation_of(holder, what.function):
        return re.sub(r"Optional\[(.*)\]|\s*\|\s*None|[\"']", r"\1", annotation).rpartition(".")[2]
    for node in ast.walk(what.function):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            called = ast.unparse(node.value.func).rpartition(".")[2]
            if holder in [ast.unparse(each) for each in node.targets] and called[:1].isupper():
                return called
    return ""
