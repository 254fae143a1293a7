"""Objections to values that are now left on a GPU and written to a file, which programs without one read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeGuard

from devfix.model import Failure
from devfix.verification.evidence import Objection, Strength
from devfix.verification.objections.code import Code, Function, as_function, called_name, functions, instances
from devfix.verification.objections.introduced import Introduced
from devfix.verification.objections.stored_devices import device_of

_WRITES = frozenset({"save", "dump", "save_file"})
_WRITERS = frozenset({"torch", "pickle", "joblib", "dill", "cloudpickle", "safetensors"})
_READS = ("torch.load", "pickle.load", "joblib.load", "dill.load", "cloudpickle.load")
_TO_HOST = frozenset({"cpu", "numpy", "tolist", "item", "size", "dim", "numel", "state_dict"})  # or to no tensor
_OF_OBJECT = frozenset(
    {"state_dict", "get_state", "to_dict", "asdict"}
)  # methods that return the attributes of an object
_NO_DATA = frozenset({"shape", "dtype", "device", "ndim"})
_ADDS = frozenset({"append", "extend", "insert", "add"})
_DEPTH = 3  # calls through which a result is followed


@dataclass(frozen=True)
class _Kept:
    """A value on a GPU in a function: its names, attributes and elements, and the node from which they come."""

    node: ast.AST | None
    names: frozenset[str] = frozenset()

    def has(self, value: ast.AST | None) -> bool:
        """Return whether an expression's value has what is kept, and where it lies."""
        if value is None:
            return False
        if _is_same(value, self.node) or (isinstance(value, ast.expr) and ast.unparse(value) in self.names):
            return True
        if isinstance(value, ast.Call):
            if isinstance(value.func, ast.Attribute) and value.func.attr in _OF_OBJECT:
                return any(each.startswith(f"{ast.unparse(value.func.value)}.") for each in self.names)
            return _passes_on(value) and any(map(self.has, (value.func, *value.args, *_words(value))))
        if isinstance(value, ast.Attribute):
            return value.attr not in _NO_DATA and self.has(value.value)
        if isinstance(value, ast.Subscript):
            return self.has(value.value)
        plain = ast.BinOp | ast.UnaryOp | ast.Tuple | ast.List | ast.Dict | ast.IfExp | ast.Starred
        return isinstance(value, plain) and any(map(self.has, ast.iter_child_nodes(value)))


def of_saved(what: Introduced, failure: Failure, code: Code) -> Iterator[Objection]:
    """Yield statements that write to a file what is now on a GPU, where the file may be read without one."""
    device = device_of(what) or ("cuda" if what.kind == "call" and what.name == "cuda" else "")
    is_dropped = what.kind == "dropped"
    if what.node is None or not (is_dropped or device) or device.strip("\"'") == "cpu" or _is_of_module(what):
        return
    tree = code.committed_tree(what.path) if is_dropped else code.tree(what.path)
    around = what.function or (as_function(tree) if tree is not None else None)
    found = _find_writes(what.path, around, _Kept(what.node), code) if around else ()
    for path, call, shown in [*found, *(_written_of_object(what, code) if tree is not None else ())]:
        strength, reason = _read_elsewhere(path, call, is_dropped, code)
        if strength:
            problem = f"{path}:{call.lineno} writes `{shown}` to a file, now from a GPU"
            yield Objection(strength, f"{problem}, {reason}")


def _written_of_object(what: Introduced, code: Code) -> Iterator[tuple[str, ast.Call, str]]:
    """Yield the calls that write to a file what an object now keeps on a GPU, or what its methods return of it."""
    if what.function is None or not what.owner:
        return
    stored = frozenset(each for each in _follow_kept(what.function, _Kept(what.node)).names if each.startswith("self."))
    tree = code.tree(what.path)
    methods = [each for owner, _, each in functions(tree) if owner == what.owner] if tree is not None and stored else []
    for method in methods:
        if not isinstance(method, Function) or method is what.function:
            continue
        kept = _follow_kept(method, _Kept(None, stored))
        for call, value in _writing_calls(method):
            if kept.has(value):
                yield what.path, call, _kept_part(value, kept)
        if any(isinstance(each, ast.Return) and kept.has(each.value) for each in ast.walk(method)):
            yield from _written_results(what.owner, method.name, code)


def _written_results(owner: str, method: str, code: Code) -> Iterator[tuple[str, ast.Call, str]]:
    """Yield the calls that write to a file what a method of the objects of a class returns."""
    for path, tree in code.trees(f".{method}("):
        known = instances(tree, code.family(owner))
        for call, value in _writing_calls(tree):
            named = [each for each in ast.walk(value) if isinstance(each, ast.Attribute) and each.attr == method]
            if any(ast.unparse(each.value) in known for each in named):
                yield path, call, ast.unparse(value)


def _writing_calls(tree: ast.AST) -> Iterator[tuple[ast.Call, ast.expr]]:
    """Yield the calls that write to a file, each with what it writes."""
    for each in ast.walk(tree):
        if _writes(each) and (value := _first(each)) is not None:
            yield each, value


def _is_same(value: ast.AST, node: ast.AST | None) -> bool:
    """Return whether two nodes are one, or of the same place in the tree of the same file."""
    places = [(getattr(each, "lineno", 0), getattr(each, "col_offset", 0), type(each)) for each in (value, node)]
    return value is node or (node is not None and places[0] == places[1] and ast.unparse(value) == ast.unparse(node))


def _is_of_module(what: Introduced) -> bool:
    """Return whether a move is one of a module, whose state is read to where the reader wants it."""
    func = what.node.func if isinstance(what.node, ast.Call) else None
    moved = func.value if isinstance(func, ast.Attribute) else None
    if what.kind != "call" or moved is None:
        return False
    called = called_name(moved)
    used = ast.walk(what.function) if what.function is not None else ()
    asked = {"parameters", "state_dict", "train", "eval", "load_state_dict"}
    return called[:1].isupper() or any(
        isinstance(each, ast.Attribute) and each.attr in asked and ast.unparse(each.value) == what.root for each in used
    )


def _find_writes(path: str, function: Function, kept: _Kept, code: Code) -> Iterator[tuple[str, ast.Call, str]]:
    """Yield the calls that write to a file what a function keeps, and what it returns: file, call, and what it is."""
    found, seen = [(path, function, kept)], set[tuple[Function, frozenset[str]]]()
    for depth in reversed(range(_DEPTH + 1)):
        callers = []
        for file, around, given in found:
            held = _follow_kept(around, given)
            for call, value in _writing_calls(around):
                if _is_still_kept(value, call, around, held):
                    yield file, call, _kept_part(value, held)
            returned = (each.value for each in ast.walk(around) if isinstance(each, ast.Return))
            results = [each for each in returned if held.has(each)]
            for place, caller in code.callers(around) if results and depth else ():
                names = frozenset(_names_of_results(caller, around.name, results, held))
                if names and (caller, names) not in seen:
                    seen.add((caller, names))
                    callers.append((place, caller, _Kept(None, names)))
        found = callers


def _follow_kept(function: Function, kept: _Kept) -> _Kept:
    """Return what is kept with all that a function assigns from it, or adds it to."""
    while True:
        more: set[str] = set()
        for each in ast.walk(function):
            if isinstance(each, ast.Assign | ast.AnnAssign) and each.value is not None:
                for target in each.targets if isinstance(each, ast.Assign) else [each.target]:
                    more.update(_kept_targets(target, each.value, kept))
            elif isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in _ADDS:
                more.update([ast.unparse(each.func.value)] if any(map(kept.has, each.args)) else [])
        if more <= kept.names:
            return kept
        kept = _Kept(kept.node, kept.names | more)


def _kept_targets(target: ast.expr, value: ast.expr, kept: _Kept) -> Iterator[str]:
    """Yield the targets of an assignment to which what is kept is assigned; an element that is written stays there."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for one, other in zip(target.elts, value.elts, strict=True):
            yield from _kept_targets(one, other, kept)
    elif isinstance(target, ast.Name | ast.Attribute) and kept.has(value):
        yield ast.unparse(target)


def _names_of_results(caller: Function, name: str, results: list[ast.expr | None], kept: _Kept) -> Iterator[str]:
    """Yield the expressions by which a caller of a function has what is kept of its results."""
    for each in ast.walk(caller):
        call = each.value if isinstance(each, ast.Assign) else each
        if not isinstance(call, ast.Call) or called_name(call) != name:
            continue
        for value in results:
            if not isinstance(value, ast.Tuple):
                yield ast.unparse(call)
                continue
            for target in each.targets if isinstance(each, ast.Assign) else ():
                if isinstance(target, ast.Tuple) and len(target.elts) == len(value.elts):
                    pairs = zip(target.elts, value.elts, strict=True)
                    yield from (ast.unparse(one) for one, other in pairs if kept.has(other))


def _passes_on(call: ast.Call) -> bool:
    """Return whether a call gives what it is given, where it is: a method of it, or a function of PyTorch."""
    name = called_name(call)
    if name in _TO_HOST or (name == "to" and any("cpu" in ast.unparse(each) for each in (*call.args, *_words(call)))):
        return False
    return isinstance(call.func, ast.Attribute) or name in ("dict", "list", "tuple")


def _words(call: ast.Call) -> list[ast.expr]:
    return [each.value for each in call.keywords]


def _writes(node: ast.AST) -> TypeGuard[ast.Call]:
    """Return whether a node is a call that writes its first argument to a file: `torch.save(scores, path)`."""
    if not isinstance(node, ast.Call):
        return False
    root, _, name = ast.unparse(node.func).rpartition(".")
    return name in _WRITES and (root.partition(".")[0] in _WRITERS or name == "save_file")


def _first(call: ast.Call) -> ast.expr | None:
    return call.args[0] if call.args else next((each.value for each in call.keywords if each.arg == "obj"), None)


def _is_still_kept(value: ast.expr, call: ast.Call, function: Function, kept: _Kept) -> bool:
    """Return whether what is written holds what is kept, unless the last assignments before it have moved it away."""
    left = set(kept.names)
    for each in ast.walk(function):
        if isinstance(each, ast.Assign) and each.lineno < call.lineno:
            for name in map(ast.unparse, each.targets):
                last = _last_value(name, call.lineno, function)
                left -= {name} if last is not None and not kept.has(last) else set()
    return _Kept(kept.node, frozenset(left)).has(value)


def _last_value(name: str, line: int, function: Function) -> ast.expr | None:
    given = [
        each
        for each in ast.walk(function)
        if isinstance(each, ast.Assign) and each.lineno < line and name in map(ast.unparse, each.targets)
    ]
    return max(given, key=lambda each: each.lineno).value if given else None


def _kept_part(value: ast.expr, kept: _Kept) -> str:
    """Return the part of a written value that is kept: `mean` of `{"mean": mean, "count": count}`."""
    if isinstance(value, ast.Dict | ast.List | ast.Tuple):
        parts = value.values if isinstance(value, ast.Dict) else value.elts
        return next((_kept_part(each, kept) for each in parts if kept.has(each)), "")
    return ast.unparse(value)


def _read_elsewhere(path: str, call: ast.Call, is_dropped: bool, code: Code) -> tuple[Strength | None, str]:
    """Return how much speaks against writing from a GPU, and why: where the file is read, and to which device.

    A program that reads it may run where there is no GPU; code that brought it to the host has said so.
    """
    root, reads = ast.unparse(call.func).partition(".")[0], []
    for file, tree in code.trees(*_READS):
        for node in ast.walk(tree):
            is_read = isinstance(node, ast.Call) and ast.unparse(node.func) == f"{root}.load"
            if isinstance(node, ast.Call) and is_read and not _is_mapped(node):
                reads.append((file, node))
    other = [(file, node) for file, node in reads if file != path and _may_be_same(call, node)]
    if other:
        file, node = other[0]
        return "strong", f"and {file}:{node.lineno} reads such a file without one too"
    if is_dropped or reads:
        return "weak", "and a machine without one reads no such file"
    return None, ""


def _is_mapped(load: ast.Call) -> bool:
    """Return whether a call says where it wants what it reads."""
    return len(load.args) > 1 or any(each.arg == "map_location" for each in load.keywords)


def _may_be_same(save: ast.Call, load: ast.Call) -> bool:
    """Return whether a file that is read may be the one that is written: unless both are named, and differ."""
    names = [_file_name(each.args[at]) if len(each.args) > at else "" for each, at in ((save, 1), (load, 0))]
    return not all(names) or names[0] == names[1]


def _file_name(path: ast.expr) -> str:
    """Return the last part of a path that is written as text; "" if it is computed."""
    texts = [each.value for each in ast.walk(path) if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    is_plain = isinstance(path, ast.Constant) or (texts and "." in texts[-1])
    return texts[-1].rpartition("/")[2] if texts and is_plain else ""
