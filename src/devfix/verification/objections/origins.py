"""Find the values that an expression may have besides the one of the run: its elements, defaults, results and items.

`weight` of `for weight in weights` is an element of what callers pass, `options["weights"]` an item of it,
`schedule(step)` the result of a function, `getattr(self, "weights", 1.0)` may be the default.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from devfix.model import Failure
from devfix.verification.evidence import Objection
from devfix.verification.objections.callers import passed_values
from devfix.verification.objections.code import Code, Function, functions
from devfix.verification.objections.introduced import MOVES, Introduced
from devfix.verification.objections.value_kinds import (
    compares,
    has_passed_value,
    is_of_numbers,
    kind_of,
    named_parameters,
    reaching_values,
    values_assigned_to,
)

DEPTH = 4  # of names, calls and containers that are followed
MOST = 40  # values of one expression


@dataclass(frozen=True)
class Value:
    """An expression in a function of a file; `owner` is the class of a method, else ""."""

    path: str
    node: ast.expr
    function: Function | None
    owner: str = ""
    at: int = 0

    @property
    def line(self) -> int:
        """The line of the expression, or of what was introduced there."""
        return self.at or self.node.lineno


def of_origins(what: Introduced, failure: Failure, code: Code) -> Iterator[Objection]:
    """Yield values of an expression without the method that is now called on it, or the device that is read of it.

    What is registered as a buffer or a parameter must be a tensor too.
    """
    root = _root(what)
    if root is None or what.function is None:
        return
    if _is_told(what.function, root):
        return
    at = getattr(what.node, "lineno", 0)
    found = _values(Value(what.path, root, what.function, what.owner, at), code, DEPTH)
    for _, each in zip(range(MOST), found, strict=False):
        kind = kind_of(each.node, each.function)
        if kind == "other" or (
            kind == "none" and what.kind != "buffer" and not compares(what.function, ast.unparse(root))
        ):
            problem = f"{each.path}:{each.node.lineno} gives `{ast.unparse(each.node)}` for `{ast.unparse(root)}`"
            numbers = what.root if what.kind == "call" and is_of_numbers(each.node, each.function) else ""
            is_moved = what.kind in ("call", "read")
            ends = f"which has no `.{what.name}`" if is_moved else f"and a {what.kind} takes tensors alone"
            yield Objection("strong", f"{problem}, {ends}", numbers)


def _root(what: Introduced) -> ast.expr | None:
    """Return the expression that must be a tensor; None if it need not, or if other checks ask for it."""
    if (what.kind == "call" and what.name in MOVES) or (what.kind == "read" and what.name == "device"):
        root = ast.parse(what.root, mode="eval").body
        function = what.function
        is_given = isinstance(root, ast.Name) and function is not None and root.id in named_parameters(function)
        return None if is_given else root
    if what.kind == "buffer" and isinstance(what.node, ast.Call) and len(what.node.args) > 1:
        return what.node.args[1]
    return None


def _is_told(function: Function, root: ast.expr) -> bool:
    """Return whether a function asks for the type of an expression."""
    asked = ast.unparse(root)
    calls = (ast.unparse(each) for each in ast.walk(function) if isinstance(each, ast.Call) and each.args)
    known = (f"isinstance({asked},", f"hasattr({asked},", f"is_tensor({asked})", f"callable({asked})")
    return any(each.endswith(known[2:]) or each.startswith(known[:2]) for each in calls)


def _values(of: Value, code: Code, depth: int) -> Iterator[Value]:
    """Yield what an expression may be, as far as the source says, without the expression itself."""
    node, function = of.node, of.function
    if depth <= 0 or function is None:
        return
    if isinstance(node, ast.Name):
        if has_passed_value(node.id, function, of.line):
            yield from _follow_passed(of, node.id, code, depth)
        for value in (known := reaching_values(node.id, function, of.line)):
            yield from _ends(replace(of, node=value, at=0), code, depth)
        for iterable, at in _loops(node.id, function):
            yield from _elements(replace(of, node=iterable, at=0), at, code, depth - 1)
        if not known and node.id not in named_parameters(function):
            yield from _of_enclosing(of, node, function, code, depth)
    elif isinstance(node, ast.Subscript):
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if isinstance(key, str):
            yield from _items(replace(of, node=node.value), key, code, depth - 1)
        else:
            yield from _elements(replace(of, node=node.value), None, code, depth - 1)
    elif isinstance(node, ast.Call):
        yield from _results(of, node, code, depth)


def _of_enclosing(of: Value, name: ast.Name, function: Function, code: Code, depth: int) -> Iterator[Value]:
    """Yield what a name may be that the function takes from the one in which it is defined."""
    for path, tree in code.trees(f"def {function.name}("):
        for owner, outer, each in functions(tree) if path == of.path else ():
            is_it = isinstance(each, ast.FunctionDef) and each.name == function.name and each.lineno == function.lineno
            if is_it and outer is not None:
                yield from _values(Value(path, name, outer, owner, function.lineno), code, depth - 1)


def _ends(of: Value, code: Code, depth: int) -> Iterator[Value]:
    """Yield an expression that says what it is, or else what it may be."""
    if kind_of(of.node, of.function) == "unknown":
        yield from _values(of, code, depth - 1)
    else:
        yield of


def _follow_passed(of: Value, name: str, code: Code, depth: int) -> Iterator[Value]:
    if of.function is not None:
        for path, _, given, around in passed_values(of.path, of.owner, of.function, name, code):
            yield from _ends(Value(path, given, around), code, depth)


def _results(of: Value, call: ast.Call, code: Code, depth: int) -> Iterator[Value]:
    """Yield what a call may return: a default, an item, or what the functions of its name return."""
    called = ast.unparse(call.func)
    if called == "getattr" and len(call.args) == 3:
        yield replace(of, node=call.args[2])
    elif isinstance(call.func, ast.Attribute) and call.func.attr in ("get", "pop") and call.args:
        if len(call.args) == 2:
            yield replace(of, node=call.args[1])
        key = call.args[0]
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            yield from _items(replace(of, node=call.func.value), key.value, code, depth - 1)
    elif isinstance(call.func, ast.Name) and of.function is not None:
        if call.func.id in named_parameters(of.function):
            yield from _of_functions(_callables(of, call.func.id, code), code, depth)
        else:
            yield from _follow_returned(call.func.id, frozenset({""}), code, depth)
    elif isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == "self" and of.owner:
        family = code.family(of.owner)
        yield from _follow_returned(call.func.attr, family, code, depth)
        yield from _of_functions(_given_attribute(call.func.attr, family, code, depth - 1), code, depth)


def _of_functions(found: Iterator[Value], code: Code, depth: int) -> Iterator[Value]:
    """Yield what given functions return."""
    for each in found:
        if isinstance(each.node, ast.Lambda):
            yield from _ends(replace(each, node=each.node.body), code, depth)
        elif isinstance(each.node, ast.Name):
            yield from _follow_returned(each.node.id, frozenset({""}), code, depth)


def _follow_returned(name: str, owners: frozenset[str], code: Code, depth: int) -> Iterator[Value]:
    """Yield what the functions of a name return, or the methods of some classes."""
    for path, tree in code.trees(f"def {name}("):
        for owner, function, node in functions(tree):
            is_it = function is not None and function.name == name and owner in owners
            if is_it and isinstance(node, ast.Return) and node.value is not None:
                values = [node.value.body, node.value.orelse] if isinstance(node.value, ast.IfExp) else [node.value]
                for value in values:
                    yield from _ends(Value(path, value, function, owner), code, depth - 1)


def _given_attribute(name: str, family: frozenset[str], code: Code, depth: int) -> Iterator[Value]:
    """Yield what the constructors of some classes assign to an attribute."""
    for path, tree in code.trees(f".{name}"):
        for owner, function, node in functions(tree):
            if owner not in family or function is None or not isinstance(node, ast.Assign):
                continue
            for value in values_assigned_to(node, f"self.{name}"):
                if isinstance(value, ast.Name) and value.id in named_parameters(function):
                    yield from _callables(Value(path, value, function, owner), value.id, code)


def _callables(of: Value, name: str, code: Code) -> Iterator[Value]:
    if of.function is not None:
        for path, _, given, around in passed_values(of.path, of.owner, of.function, name, code):
            yield Value(path, given, around)


def _items(of: Value, key: str, code: Code, depth: int) -> Iterator[Value]:
    """Yield what an expression that is a dictionary has at a key."""
    for each in _containers(of, code, depth):
        if isinstance(each.node, ast.Dict):
            for word, value in zip(each.node.keys, each.node.values, strict=True):
                if isinstance(word, ast.Constant) and word.value == key:
                    yield from _ends(replace(each, node=value), code, depth)
    words = of.function.args.kwarg if of.function is not None else None
    if words is not None and ast.unparse(of.node) == words.arg:
        yield from _follow_passed(of, key, code, depth)


def _elements(of: Value, at: int | None, code: Code, depth: int) -> Iterator[Value]:
    """Yield the elements of an expression; of those of `zip`, `enumerate` and pairs, the ones at a place."""
    node = of.node
    if isinstance(node, ast.Call) and at is not None:
        called = ast.unparse(node.func)
        if called == "zip" and at < len(node.args):
            yield from _elements(replace(of, node=node.args[at]), None, code, depth)
        if called == "enumerate" and at == 1 and node.args:
            yield from _elements(replace(of, node=node.args[0]), None, code, depth)
        return
    for each in _containers(of, code, depth):
        found = each.node.elts if isinstance(each.node, ast.List | ast.Tuple) else []
        found = [each.node.elt] if isinstance(each.node, ast.ListComp | ast.GeneratorExp) else found
        for element in found:
            part = _part(element, at)
            if part is not None:
                yield from _ends(replace(each, node=part), code, depth)


def _part(element: ast.expr, at: int | None) -> ast.expr | None:
    """Return what a loop with several variables takes of an element: `y` of `(x, y)`; None if that is unknown."""
    if at is None:
        return element
    return element.elts[at] if isinstance(element, ast.Tuple | ast.List) and at < len(element.elts) else None


def _containers(of: Value, code: Code, depth: int) -> Iterator[Value]:
    """Yield the literal containers that an expression may be."""
    if isinstance(of.node, ast.List | ast.Tuple | ast.Dict | ast.ListComp | ast.GeneratorExp):
        yield of
    elif isinstance(of.node, ast.Name) and of.function is not None and depth > 0:
        for value in reaching_values(of.node.id, of.function, of.line):
            yield from _containers(replace(of, node=value), code, depth - 1)
        if of.node.id in named_parameters(of.function):
            for each in _callables(of, of.node.id, code):
                yield from _containers(each, code, depth - 1)


def _loops(name: str, function: Function) -> Iterator[tuple[ast.expr, int | None]]:
    """Yield what a variable goes over, and its place among the variables of the loop; None where it is the only one."""
    for node in ast.walk(function):
        if not isinstance(node, ast.For | ast.comprehension):
            continue
        target = node.target
        if isinstance(target, ast.Name) and target.id == name:
            yield node.iter, None
        if isinstance(target, ast.Tuple):
            yield from ((node.iter, at) for at, one in enumerate(target.elts) if ast.unparse(one) == name)
