"""Objections to a buffer that loses its values: with its module it moves to the meta device, or is made empty.

A plain attribute stays where it is and keeps its value. Loading a state dict restores none of a buffer that is not in
it, and functional_call gives a module on the meta device only what it is passed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.model import Failure
from devfix.verification.evidence import Objection, Strength
from devfix.verification.objections.code import Code, called_name, containing, may_hold, new_modules
from devfix.verification.objections.introduced import Introduced

META = "meta"


def of_emptied(what: Introduced, failure: Failure, code: Code) -> Iterator[Objection]:
    """Yield calls that take the values of all buffers of a module which may hold the new one."""
    if what.kind != "buffer":
        return
    found = [
        (path, tree, node)
        for path, tree in code.trees("to_empty(", f'"{META}"', f"'{META}'")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and (_method(node) == "to_empty" or _is_given_meta(node))
    ]
    holding = containing(code.family(what.owner), code) if found and what.owner else frozenset[str]()
    for path, tree, node in found:
        strength: Strength = "strong"
        if isinstance(node.func, ast.Name) and node.func.id in holding and not node.func.id[:1].isupper():
            strength = "weak"  # a function that makes the module, and may move it
        elif (
            not isinstance(node.func, ast.Attribute)
            or not _method(node)
            or not may_hold(node.func.value, new_modules(tree, holding), holding)
        ):
            continue
        done = "leaves without values" if _method(node) == "to_empty" else "moves to the meta device"
        problem = f"{path}:{node.lineno}: `{ast.unparse(node)}` {done} what a module registers"
        yield Objection(strength, f"{problem}, now with `{what.name}`; an attribute keeps its value")


def _method(call: ast.Call) -> str:
    """Return the method that moves a module or makes it empty; "" if the call is another one."""
    is_known = isinstance(call.func, ast.Attribute) and call.func.attr in ("to", "to_empty")
    return call.func.attr if is_known and isinstance(call.func, ast.Attribute) else ""


def _is_given_meta(call: ast.Call) -> bool:
    """Return whether a call is given the meta device: its name, or `torch.device` of that."""
    return any(map(_is_meta, [*call.args, *(each.value for each in call.keywords if each.arg == "device")]))


def _is_meta(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return called_name(node) == "device" and any(map(_is_meta, node.args))
    return isinstance(node, ast.Constant) and node.value == META
