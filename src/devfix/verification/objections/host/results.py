"""Objections to what is now made on another device, where other code needs it on the host.

Such code passes it to NumPy as it is, or reads the array whose memory it had.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from devfix.model import Failure
from devfix.verification.evidence import Objection
from devfix.verification.objections.code import (
    Code,
    Function,
    assigned_values,
    called_name,
    functions,
    keep_answers,
)
from devfix.verification.objections.introduced import Introduced, class_of
from devfix.verification.objections.members import is_given_or_none
from devfix.verification.objections.stored_devices import device_of
from devfix.verification.objections.value_kinds import parameters

_ARRAYS = ("np", "numpy", "plt")
_OF_MODULE = r"self\.[\w.]+\.device|next\(self\.parameters\(\)\)\.device"  # not what the constructor was given
_NUMBERS = frozenset({"size", "dim", "numel", "item", "tolist"})
_TO_HOST = frozenset({"cpu", "to", "tolist", "item"})
_JOINS = frozenset({"torch.cat", "torch.concat", "torch.hstack", "torch.stack", "torch.vstack"})


def of_host_results(what: Introduced, failure: Failure, code: Code) -> Iterator[Objection]:
    """Yield code that passes to NumPy what a function or a property returns, if the device is not its caller's.

    What a constructor stores is a result of the methods that return it, or what is computed of it.
    """
    function = what.function
    device = device_of(what)
    if function is None or not device or device in ("'cpu'", '"cpu"'):
        return
    given = _of_caller(function)
    if device.removeprefix("next(").split(".")[0].split("[")[0] in given or _meets(function, what.node, device):
        return
    tree = code.tree(what.path) if what.owner else None
    is_own = tree is not None and is_given_or_none(device, what.owner, tree)
    of_module = bool(what.owner) and (is_own or re.fullmatch(_OF_MODULE, device) is not None)
    family = code.family(what.owner) if of_module or function.name == "__init__" else frozenset[str]()
    for name, is_property in _results(what, function, code):
        for path, tree in code.trees(f".{name}", f"{name}("):
            if of_module and stays_on_host(tree, family):
                continue
            if function.name == "__init__" and not names_in(tree) & family:
                continue  # it reads another class's attribute of that name
            for _, around, node in functions(tree):
                taken = taken_by_numpy(node)
                if taken is None or not is_result(taken, name, is_property, around or tree):
                    continue
                problem = f"{path}:{taken.lineno} passes `{ast.unparse(taken)}` to NumPy as it is"
                yield Objection("strong", f"{problem}, which takes host memory alone, and not what is on `{device}`")


def _of_caller(function: Function) -> set[str]:
    """Return the parameters of a function and what is sent to it, and the variables that are where they are.

    Those of loops and comprehensions over them (`for at, part in parts`), those that were moved or created there
    (`part.device`), and what is computed of them: `total = torch.stack(parts).sum(0)`.
    """
    given = {*parameters(function), *(each.arg for each in function.args.kwonlyargs)}
    for each in ast.walk(function):
        if isinstance(each, ast.For | ast.comprehension) and any(
            isinstance(of, ast.Name) and of.id in given for of in ast.walk(each.iter)
        ):
            given |= {to.id for to in ast.walk(each.target) if isinstance(to, ast.Name)}
    assigned = (each for each in ast.walk(function) if isinstance(each, ast.Assign))
    for each in sorted(assigned, key=lambda each: each.lineno):
        is_there = isinstance(each.value, ast.Yield) or any(_is_device_of(of, given) for of in ast.walk(each.value))
        if is_there or _is_computed_there(each.value, given):
            given |= {to.id for to in each.targets if isinstance(to, ast.Name)}
    return given


def _is_computed_there(value: ast.expr, names: set[str]) -> bool:
    """Return whether an expression is computed from a tensor of some names, or joins such tensors in one."""
    if isinstance(value, ast.Call) and value.args and ast.unparse(value.func) in _JOINS:
        parts = value.args[0]
        elements = parts.elts if isinstance(parts, ast.List | ast.Tuple) else [getattr(parts, "elt", parts)]
        return any(_is_computed_there(each, names) for each in elements)
    return any(_is_computed_from(value, name) for name in names)


def _meets(function: Function, node: ast.AST | None, device: str) -> bool:
    """Return whether an operator combines a node with the tensor whose device it gets: `t + ones(3, device=t.device)`.

    What the operator returns was on that device before, in all calls that did not fail.
    """
    whole = device.removesuffix(".device")
    for each in ast.walk(function) if whole != device else ():
        sides = [each.left, each.right] if isinstance(each, ast.BinOp) else []
        sides = [each.left, *each.comparators] if isinstance(each, ast.Compare) else sides
        others = [side for side in sides if not any(inner is node for inner in ast.walk(side))]
        if len(others) < len(sides) and any(_is_computed_from(side, whole) for side in others):
            return True
    return False


def _is_computed_from(value: ast.expr, whole: str) -> bool:
    """Return whether an expression is a tensor, or an element, or a result of a method or an operator: `2 * t[0]`."""
    if isinstance(value, ast.BinOp):
        return any(_is_computed_from(each, whole) for each in (value.left, value.right))
    for each in receivers(value):
        if ast.unparse(each) == whole:
            return True
        if called_name(each) in _NUMBERS:
            return False
    return False


def receivers(value: ast.expr) -> Iterator[ast.expr]:
    """Yield an expression, and inward what its methods and indices belong to: `t[0].sum()`, `t[0]` and `t`."""
    yield value
    while True:
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
            value = value.func.value
        elif isinstance(value, ast.Subscript):
            value = value.value
        else:
            return
        yield value


def _is_device_of(node: ast.AST, names: set[str]) -> bool:
    is_device = isinstance(node, ast.Attribute) and node.attr == "device" and isinstance(node.value, ast.Name)
    return is_device and ast.unparse(node).partition(".")[0] in names


def of_host_state(what: Introduced, failure: Failure, code: Code) -> Iterator[Objection]:
    """Yield methods of an object that pass its attribute to NumPy as it is, where the attribute is moved and kept."""
    device, kept = device_of(what), _kept_in(what, code)
    if not device or device in ("'cpu'", '"cpu"') or kept is None:
        return
    owner, _ = class_of(ast.unparse(kept.value), what, failure)
    family = code.family(owner) if owner else frozenset[str]()
    for path, tree in code.trees(f"self.{kept.attr}") if family else ():
        for holder, around, node in functions(tree):
            taken = taken_by_numpy(node) if holder in family else None
            if taken is None or not ast.unparse(taken).startswith(f"self.{kept.attr}"):
                continue
            if is_result(taken, kept.attr, True, around or tree):
                problem = f"{path}:{taken.lineno} passes `{ast.unparse(taken)}` to NumPy as it is"
                yield Objection("strong", f"{problem}, which takes host memory alone, and not what is on `{device}`")


def _kept_in(what: Introduced, code: Code) -> ast.Attribute | None:
    """Return the attribute that is assigned what a patch moves: `stats.counts` of `stats.counts = ….to(device)`.

    None if what is moved is not kept.
    """
    around = what.function or code.tree(what.path)
    if around is None or not isinstance(what.node, ast.Call):
        return None
    moved = ast.unparse(what.node)
    for each in ast.walk(around):
        if (
            isinstance(each, ast.Assign)
            and ast.unparse(each.value) == moved
            and isinstance(each.targets[0], ast.Attribute)
        ):
            return each.targets[0]
    return None


def _results(what: Introduced, function: Function, code: Code) -> Iterator[tuple[str, bool]]:
    """Yield the names by which other code gets what is moved, and whether it reads them as attributes."""
    if function.name != "__init__":
        if not function.name.startswith("__") and _is_returned(function, what.node):
            yield function.name, _is_property(function)
        return
    stored = {
        target.attr
        for each in ast.walk(function)
        if isinstance(each, ast.Assign) and any(inner is what.node for inner in ast.walk(each.value))
        for target in each.targets
        if isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self"
    }
    yield from ((name, True) for name in sorted(stored))
    yield from returning(what, stored, code)


def returning(what: Introduced, stored: set[str], code: Code) -> Iterator[tuple[str, bool]]:
    """Yield the methods of the class that return attributes, or what is computed of them, and if as properties."""
    tree = code.tree(what.path)
    for owner, _, method in functions(tree) if tree is not None and stored else ():
        if owner != what.owner or not isinstance(method, Function) or method.name.startswith("__"):
            continue
        values = [each.value for each in ast.walk(method) if isinstance(each, ast.Return) and each.value is not None]
        if any(is_result(each, name, True, method) for value in values for each in _sides(value) for name in stored):
            yield method.name, _is_property(method)


def _sides(value: ast.expr) -> list[ast.expr]:
    """Return what an expression combines: `a` and `b` of `a * b`."""
    return [*_sides(value.left), *_sides(value.right)] if isinstance(value, ast.BinOp) else [value]


def _is_property(function: Function) -> bool:
    return any("property" in ast.unparse(each) for each in function.decorator_list)


def stays_on_host(tree: ast.Module, family: frozenset[str]) -> bool:
    """Return whether a file constructs modules of some classes itself, and mentions no device to move them to."""
    names = names_in(tree)
    return bool(names & family) and not any(re.search(r"^(to|accelerat\w*|cuda)$|device", each) for each in names)


@keep_answers
def names_in(tree: ast.AST) -> set[str]:
    """Return the names that a file reads, by themselves, as attributes and as keywords."""
    named = (each for each in ast.walk(tree) if isinstance(each, ast.Name | ast.Attribute | ast.keyword))
    found = (getattr(each, "id", None) or getattr(each, "attr", None) or getattr(each, "arg", None) for each in named)
    return {each for each in found if each}


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


def taken_by_numpy(node: ast.AST) -> ast.expr | None:
    """Return what a call passes to NumPy: `np.asarray(…)`, `….numpy()`."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    if node.func.attr == "numpy":
        return node.func.value
    is_array = ast.unparse(node.func).split(".")[0] in _ARRAYS
    return node.args[0] if is_array and node.args else None


def is_result(taken: ast.expr, name: str, is_property: bool, around: ast.AST, depth: int = 2) -> bool:
    """Return whether an expression is the result of a function or property, or is computed from it on its device."""
    while True:
        if isinstance(taken, ast.Call):
            called = called_name(taken)
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
    given = assigned_values(around).get(taken.id, ())
    return bool(given) and all(is_result(each, name, is_property, around, depth - 1) for each in given)
