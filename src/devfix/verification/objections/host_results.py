"""Objections to a result that is now made on another device, where other code passes it to NumPy as it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.model import Failure
from devfix.verification.evidence import Objection
from devfix.verification.objections.code import Code, Function, functions
from devfix.verification.objections.introduced import Introduced
from devfix.verification.objections.stored_devices import device_of
from devfix.verification.objections.value_kinds import parameters

_ARRAYS = ("np", "numpy", "plt")
_TO_HOST = frozenset({"cpu", "to", "tolist", "item"})


def of_host_results(what: Introduced, failure: Failure, code: Code) -> Iterator[Objection]:
    """Yield code that passes to NumPy what a function or a property returns, if the device is not its caller's."""
    function = what.function
    if function is None or function.name.startswith("__") or not _is_returned(function, what.node):
        return
    device = device_of(what)
    given = {*parameters(function), *(each.arg for each in function.args.kwonlyargs)}
    if not device or device in ("'cpu'", '"cpu"') or device.split(".")[0].split("[")[0] in given:
        return
    is_property = any("property" in ast.unparse(each) for each in function.decorator_list)
    for path, tree in code.trees(f".{function.name}", f"{function.name}("):
        for _, around, node in functions(tree):
            taken = _taken_by_numpy(node)
            if taken is None or not _is_result(taken, function.name, is_property, around or tree):
                continue
            problem = f"{path}:{taken.lineno} passes `{ast.unparse(taken)}` to NumPy as it is"
            yield Objection("strong", f"{problem}, which takes host memory alone, and not what is on `{device}`")


def _is_returned(function: Function, node: ast.AST | None) -> bool:
    """Return whether a function returns a node, or a variable that is assigned it."""
    held = {
        ast.unparse(target)
        for each in ast.walk(function)
        if isinstance(each, ast.Assign) and any(inner is node for inner in ast.walk(each.value))
        for target in each.targets
    }
    values = [each.value for each in ast.walk(function) if isinstance(each, ast.Return | ast.Yield) and each.value]
    return any(
        inner is node or (isinstance(inner, ast.Name) and inner.id in held)
        for value in values
        for inner in ast.walk(value)
    )


def _taken_by_numpy(node: ast.AST) -> ast.expr | None:
    """Return what a call passes to NumPy: `np.asarray(…)`, `….numpy()`."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    if node.func.attr == "numpy":
        return node.func.value
    is_array = ast.unparse(node.func).split(".")[0] in _ARRAYS
    return node.args[0] if is_array and node.args else None


def _is_result(taken: ast.expr, name: str, is_property: bool, around: ast.AST, depth: int = 2) -> bool:
    """Return whether an expression is the result of a function or property, or is computed from it on its device."""
    while True:
        if isinstance(taken, ast.Call):
            called = ast.unparse(taken.func).rpartition(".")[2]
            if called == name and not is_property:
                return True
            if called in _TO_HOST or not isinstance(taken.func, ast.Attribute):
                return False
            taken = taken.func.value
        elif isinstance(taken, ast.Attribute) and taken.attr == name and is_property:
            return True
        elif isinstance(taken, ast.Subscript | ast.Attribute):
            taken = taken.value
        else:
            break
    if not isinstance(taken, ast.Name) or not depth:
        return False
    given = [
        each.value
        for each in ast.walk(around)
        if isinstance(each, ast.Assign) and taken.id in map(ast.unparse, each.targets)
    ]
    return bool(given) and all(_is_result(each, name, is_property, around, depth - 1) for each in given)
