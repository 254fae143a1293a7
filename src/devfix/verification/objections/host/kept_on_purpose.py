"""Objections to moving what code keeps on the host on purpose: modules whose layers take turns, and big tables.

A model that does not fit into the memory of a GPU is run layer by layer, each of which is moved there and back. A table
that stays in host memory is asked with indices on the host, and what is looked up is moved.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from devfix.model import Failure
from devfix.verification.evidence import Objection, Strength
from devfix.verification.objections.buffers import MODULE_NAMES
from devfix.verification.objections.code import (
    Code,
    Function,
    as_function,
    called_name,
    functions,
    instances,
    keep_answers,
)
from devfix.verification.objections.introduced import Introduced, class_of
from devfix.verification.objections.value_kinds import parameters

MOVES = frozenset({"to", "cuda"})
DTYPE = re.compile(r"dtype|float|half|int\d|long|bool|double|complex", re.IGNORECASE)  # no device: `x.to(torch.long)`


def of_modules_in_turns(what: Introduced, failure: Failure, code: Code) -> Iterator[Objection]:
    """Yield code that moves layers of the module which is now moved whole to a GPU and back to the host."""
    if what.kind != "call" or what.name not in MOVES:
        return
    made = moved_class(what, failure)
    family = code.family(made) | code.ancestors(made) if made else frozenset[str]()
    parts = _attributes(family, code) if family else frozenset[str]()
    helpers = dict(_helpers(code)) if parts else {}
    for path, tree in code.trees(*(f".{part}" for part in parts)):
        known = instances(tree, family) | MODULE_NAMES
        for owner, function in _functions(tree):
            holders = known | set(parameters(function)) | ({"self"} if owner in family else set())
            for node in _of_body(function):
                receiver = _in_turns(node, function, helpers)
                if receiver is None:
                    continue
                if any(_is_part(each, parts, holders) for each in (receiver, *_sources(receiver, function))):
                    problem = (
                        f"{path}:{receiver.lineno} moves `{ast.unparse(receiver)}` back to the host after its turn"
                    )
                    yield Objection("strong", f"{problem}, so that `{made}` is never on a GPU as a whole")


def _in_turns(node: ast.AST, function: Function, helpers: Mapping[str, int]) -> ast.expr | None:
    """Return what a function moves to a device and back to the host, or gives to a helper that does so."""
    receiver = _moved_to_host(node)
    if receiver is not None:
        return receiver if _takes_turns(receiver, function) else None
    called = called_name(node)
    at = helpers.get(called, 0)
    return node.args[at] if called in helpers and isinstance(node, ast.Call) and at < len(node.args) else None


def _helpers(code: Code) -> Iterator[tuple[str, int]]:
    """Yield the functions and classes that move what they are given to a device and back, and which argument it is.

    Context managers do, and what registers hooks: `with on_device(block, device)`, `offload(block, device)`.
    """
    for _, tree in code.trees(".cpu(", '"cpu"', "'cpu'"):
        yield from _helpers_in(tree)


@keep_answers
def _helpers_in(tree: ast.AST) -> Sequence[tuple[str, int]]:
    found = []
    for each in ast.iter_child_nodes(tree):
        if isinstance(each, ast.FunctionDef):
            given = {name: at for at, name in enumerate(parameters(each))}
        elif isinstance(each, ast.ClassDef):
            given = _kept_arguments(each)
        else:
            continue
        moved = (receiver for node in ast.walk(each) if (receiver := _moved_to_host(node)) is not None)
        names = (ast.unparse(receiver) for receiver in moved if _takes_turns(receiver, each))
        found += [(each.name, given[name]) for name in names if name in given]
    return found


def _kept_arguments(owner: ast.ClassDef) -> dict[str, int]:
    """Return the attributes that keep what a constructor is given, each with its place among the arguments."""
    made = next((each for each in owner.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"), None)
    places = {name: at for at, name in enumerate(parameters(made))} if made is not None else {}
    return {
        ast.unparse(each.targets[0]): places[each.value.id]
        for each in (ast.walk(made) if made is not None else ())
        if isinstance(each, ast.Assign) and isinstance(each.value, ast.Name) and each.value.id in places
    }


def of_host_tables(what: Introduced, failure: Failure, code: Code) -> Iterator[Objection]:
    """Yield code that asks the table which is now on a GPU with indices on the host, or moves what it has looked up."""
    name = moved_attribute(what)
    if not name or not what.owner:
        return
    family = code.family(what.owner)
    for path, tree in code.trees(f".{name}"):
        known = instances(tree, family)
        parents = {id(child): node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        for owner, _, node in functions(tree):
            if isinstance(node, ast.For) and (owner in family or known):
                holders = known | ({"self"} if owner in family else set())
                for item in _moved_items(node, {f"{each}.{name}" for each in holders}):
                    problem = f"{path}:{item.lineno}: `{ast.unparse(item)}` takes what is in `{name}` to be on the host"
                    is_written = any(_writes_to(each, ast.unparse(_receiver(item))) for each in ast.walk(node))
                    yield Objection("strong" if is_written else "weak", problem)
            if not isinstance(node, ast.Attribute) or node.attr != name:
                continue
            holder = ast.unparse(node.value)
            if not (holder in known or (holder == "self" and owner in family)):
                continue
            looked_up = parents.get(id(node))
            keys = _keys(looked_up, node)
            moved = parents.get(id(looked_up)) if keys else None
            is_given_host = any(_is_on_host(each) for key in keys for each in ast.walk(key))
            is_moved = isinstance(moved, ast.Attribute) and moved.attr in MOVES and moved.value is looked_up
            if looked_up is not None and (is_given_host or is_moved):
                strength: Strength = "strong" if is_given_host else "weak"
                shown = ast.unparse(looked_up if is_given_host else parents.get(id(moved), looked_up))
                yield Objection(strength, f"{path}:{node.lineno}: `{shown}` takes `{name}` to be on the host")


def _moved_items(loop: ast.For, containers: set[str], is_local: bool = False) -> Iterator[ast.Call]:
    """Yield the moves of a loop's items of some containers, where the loop does not keep what it has moved.

    What is assigned to a name counts as kept, unless the containers are local: `batch = batch.to(device)`.
    """
    given, targets = [loop.iter], [loop.target]
    if isinstance(loop.iter, ast.Call):
        called = called_name(loop.iter)
        given = loop.iter.args if called in ("zip", "enumerate") else [getattr(loop.iter.func, "value", loop.iter)]
        several = isinstance(loop.target, ast.Tuple) and called in ("zip", "enumerate", "items")
        targets = loop.target.elts if several and isinstance(loop.target, ast.Tuple) else targets
    names = {
        ast.unparse(target)
        for number, target in enumerate(targets)
        if ast.unparse(given[min(number, len(given) - 1)]) in containers
    }
    given_names = (each for each in ast.walk(loop) if isinstance(each, ast.Assign))
    kept = {id(each.value) for each in given_names if not (is_local and isinstance(each.targets[0], ast.Name))}
    for each in ast.walk(loop):
        if not isinstance(each, ast.Call) or not isinstance(each.func, ast.Attribute) or id(each) in kept:
            continue
        if each.func.attr in MOVES and ast.unparse(each.func.value) in names:
            yield each


def of_rows_moved_in_parts(what: Introduced, failure: Failure, code: Code) -> Iterator[Objection]:
    """Yield the move of a part of what is now on a device as a whole: `for x in data.split(2): x.to(device)`."""
    tree = code.tree(what.path) if what.kind == "device" and what.function is None else None
    function = as_function(tree) if tree is not None else what.function
    if what.kind != "device" or function is None:
        return
    place = getattr(what.node, "lineno", 0), getattr(what.node, "col_offset", 0)
    names = {
        ast.unparse(node.targets[0])
        for node in _of_body(function)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        if any(isinstance(each, ast.Call) and (each.lineno, each.col_offset) == place for each in ast.walk(node.value))
    }
    for node in _of_body(function) if names else ():
        for item in _moved_items(node, names, is_local=True) if isinstance(node, ast.For) else ():
            problem = f"{what.path}:{item.lineno}: `{ast.unparse(item)}` moves parts of what is on the host"
            yield Objection("weak", problem)


def _receiver(call: ast.Call) -> ast.expr:
    return call.func.value if isinstance(call.func, ast.Attribute) else call.func


def _writes_to(node: ast.AST, name: str) -> bool:
    """Return whether a node writes into a tensor where it is, for which it has to be meant: `m.mul_(0.9)`."""
    if isinstance(node, ast.AugAssign):
        return ast.unparse(node.target) == name
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    return node.func.attr.endswith("_") and ast.unparse(node.func.value) == name


def moved_attribute(what: Introduced) -> str:
    """Return the attribute of `self` that is now moved, created on a device or registered; "" if it is none."""
    if what.kind in ("buffer", "parameter"):
        return what.name
    if what.kind == "call" and what.name in MOVES and what.root.startswith("self."):
        name = what.root.removeprefix("self.")
        return name if name.isidentifier() else ""
    for each in ast.walk(what.function) if what.kind in ("device", "call") and what.function is not None else ():
        if isinstance(each, ast.Assign) and any(inner is what.node for inner in ast.walk(each.value)):
            targets = [target for target in each.targets if isinstance(target, ast.Attribute)]
            return next((target.attr for target in targets if ast.unparse(target.value) == "self"), "")
    return ""


def _keys(looked_up: ast.AST | None, table: ast.expr) -> list[ast.expr]:
    """Return what a table is asked for: `table[keys]`, `table(keys)`, `table.gather(-1, keys)`."""
    if isinstance(looked_up, ast.Subscript) and looked_up.value is table:
        return [looked_up.slice]
    return list(looked_up.args) if isinstance(looked_up, ast.Call) and looked_up.func is table else []


def _is_on_host(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and _moved_to_host(ast.Expr(node)) is not None


def moved_class(what: Introduced, failure: Failure) -> str:
    """Return the class of the object that an edit moves: of `Net(4).eval()`, or of a name; "" if it is not known."""
    moved = (
        what.node.func.value if isinstance(what.node, ast.Call) and isinstance(what.node.func, ast.Attribute) else None
    )
    while isinstance(moved, ast.Call):
        called = called_name(moved)
        if called[:1].isupper() or not isinstance(moved.func, ast.Attribute):
            return called
        moved = moved.func.value
    return class_of(ast.unparse(moved), what, failure)[0] if moved is not None else ""


def _attributes(family: frozenset[str], code: Code) -> frozenset[str]:
    """Return the attributes that the methods of some classes assign."""
    return frozenset(
        node.attr
        for _, tree in code.trees(*(f"class {each}" for each in family))
        for owner, _, node in functions(tree)
        if owner in family and isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        if ast.unparse(node.value) == "self"
    )


def _functions(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    """Yield the functions of a file with their classes, and its top level as one."""
    yield "", as_function(tree)
    for owner, _, node in functions(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield owner, node


def _of_body(function: Function | ast.ClassDef) -> Iterator[ast.AST]:
    return (each for statement in function.body for each in ast.walk(statement))


def _moved_to_host(node: ast.AST) -> ast.expr | None:
    """Return what a statement that is only a call moves to the host: `layer` of `layer.cpu()`."""
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    given = [*call.args, *(each.value for each in call.keywords if each.arg == "device")]
    is_named = any(isinstance(each, ast.Constant) and each.value == "cpu" for one in given for each in ast.walk(one))
    return call.func.value if call.func.attr == "cpu" or (call.func.attr == "to" and is_named) else None


def _takes_turns(receiver: ast.expr, function: Function | ast.ClassDef) -> bool:
    """Return whether a function moves what it moves to the host to another device as well."""
    text = ast.unparse(receiver)
    return any(
        isinstance(each, ast.Call)
        and isinstance(each.func, ast.Attribute)
        and each.func.attr in MOVES
        and ast.unparse(each.func.value) == text
        and _moved_to_host(ast.Expr(each)) is None
        for each in _of_body(function)
    )


def _sources(receiver: ast.expr, function: Function) -> Iterator[ast.expr]:
    """Yield what a name goes over, or is assigned."""
    for each in _of_body(function):
        if isinstance(each, ast.For) and ast.unparse(receiver) in [ast.unparse(one) for one in ast.walk(each.target)]:
            yield each.iter
        if isinstance(each, ast.Assign) and ast.unparse(receiver) in [ast.unparse(target) for target in each.targets]:
            yield each.value


def _is_part(node: ast.expr, parts: frozenset[str], holders: frozenset[str] | set[str]) -> bool:
    """Return whether an expression has an attribute of some objects: `enumerate(model.layers)`."""
    return any(
        isinstance(each, ast.Attribute) and each.attr in parts and ast.unparse(each.value) in holders
        for each in ast.walk(node)
    )
