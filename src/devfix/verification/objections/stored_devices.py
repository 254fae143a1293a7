"""Objections to a device that becomes permanent because the value is stored for later calls."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from devfix.model import DeviceType, Failure, is_on_gpu
from devfix.verification.evidence import Objection
from devfix.verification.objections.code import Code, called_name, functions, instances
from devfix.verification.objections.introduced import Introduced
from devfix.verification.objections.members import registers, registers_buffer
from devfix.verification.objections.value_kinds import Function, parameters


def of_stored_values(what: Introduced, failure: Failure, code: Code) -> Iterator[Objection]:
    """Yield values that are created on the device of one call's argument and stored for later calls."""
    function = what.function
    if what.kind not in ("device", "call") or function is None or function.name == "__init__":
        return
    yield from _find_shared(what, function)
    if what.kind == "call" and what.name not in ("to", "cuda"):
        return
    device = device_of(what)
    name = device.removeprefix("next(").split(".")[0].split("[")[0]
    is_moved = name == "self" and _is_module_class(what.owner, code)
    if name not in ["self", *parameters(function), *(each.arg for each in function.args.kwonlyargs)]:
        return
    if (decorator := _caching(function)) and name == device:
        return  # the device is part of the key
    if decorator:
        problem = f"{what.path}:{function.lineno}: `{function.name}` caches its results"
        later = "after the module was moved" if is_moved else "for arguments on other devices"
        yield Objection("strong" if is_moved else "weak", f"{problem}, also {later}")
        return
    for path, kept in _kept_by_decorators(function, code) if name != device else ():
        if is_moved or name != "self":
            problem = f"{path}:{kept.line}: `{kept.target}` keeps the results of `{function.name}`"
            yield Objection("strong", f"{problem}, also for arguments on other devices")
            return
    stored = _stored_by(function, what.node)
    if stored is None or (name == "self" and not is_moved) or registers_buffer(what.owner, stored.target, code):
        return
    if stored.target == what.root and not re.search(r"\bis None\b|\bnot in\b|\bnot hasattr\b", stored.test):
        return  # what is kept is moved, in each call: `if self.mask is not None: self.mask = self.mask.to(device)`
    if any("device" in each for each in (stored.target, stored.test, *stored.keys)):
        return
    is_attribute = stored.target.startswith("self.") and "[" not in stored.target
    value = stored.value.value if isinstance(stored.value, ast.Assign) else stored.value
    is_part = _constructs(what.node) or called_name(value) == "Parameter"
    if is_part and _is_module_class(what.owner, code) and registers(what.owner, stored.target, code):
        return  # a later move of its module takes it along
    problem = f"{what.path}:{stored.line}: `{stored.target}` is kept on the device of the first call"
    is_weak = is_attribute or _is_updated(function, stored.target)
    yield Objection("weak" if is_weak else "strong", f"{problem}, and later ones may be on another")


def _is_updated(function: Function, target: str) -> bool:
    """Return whether a function goes on to change what it keeps: state of what the key is, which has one device."""
    for each in ast.walk(function):
        if isinstance(each, ast.AugAssign) and ast.unparse(each.target) == target:
            return True
        method = each.func if isinstance(each, ast.Call) else None
        is_in_place = isinstance(method, ast.Attribute) and method.attr.endswith("_") and not method.attr.endswith("__")
        if isinstance(method, ast.Attribute) and is_in_place and ast.unparse(method.value) == target:
            return True
    return False


def _caching(function: Function) -> bool:
    """Return whether a decorator of a function caches its results: `lru_cache`, `cache`, `cached_property`."""
    names = (ast.unparse(each).partition("(")[0].rpartition(".")[2] for each in function.decorator_list)
    return any("cache" in name for name in names)


def _kept_by_decorators(function: Function, code: Code) -> Iterator[tuple[str, Kept]]:
    """Yield where decorators of the repository keep what a function returns, by a key without a device."""
    names = {ast.unparse(each).partition("(")[0] for each in function.decorator_list}
    defined = [f"{kind} {name}" for name in names if name.isidentifier() for kind in ("def", "class")]
    for path, tree in code.trees(*defined) if defined else ():
        for made in ast.walk(tree):
            if isinstance(made, ast.FunctionDef | ast.ClassDef) and made.name in names:
                inner = [each for each in ast.walk(made) if isinstance(each, Function) and each is not made]
                yield from (
                    (path, kept)
                    for each in inner
                    for kept in _stores(each)
                    if not any("device" in text for text in (kept.target, kept.test, *kept.keys))
                )


def _constructs(node: ast.AST | None) -> bool:
    """Return whether a node moves what a class constructs, or passes a device to the class; tensors are not meant."""
    made = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else node
    made = made if isinstance(made, ast.Call) else node
    name = called_name(made)
    return name[:1].isupper() and not name.endswith("Tensor")


def _is_module_class(name: str, code: Code) -> bool:
    """Return whether a class is one of modules: by what it derives from, or as the mixin of one that does."""
    return any(each.endswith("Module") for derived in code.family(name) for each in code.ancestors(derived))


def _keys(target: ast.expr, function: Function) -> list[str]:
    """Return what a function assigns to the names by which a statement stores a value: `key` of `cache[key] = …`."""
    names = {each.id for each in ast.walk(target) if isinstance(each, ast.Name)}
    return [
        ast.unparse(each.value) for each in _assignments_in(function) if names & set(map(ast.unparse, each.targets))
    ]


def _find_shared(what: Introduced, function: Function) -> Iterator[Objection]:
    """Yield GPU tensors that are shared with processes: a forked process cannot use the memory of a GPU."""
    for each in ast.walk(function):
        if not isinstance(each, ast.Assign) or not any(inner is what.node for inner in ast.walk(each.value)):
            continue
        names = {ast.unparse(target) for target in each.targets}
        for call in ast.walk(function):
            if (
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Attribute)
                and call.func.attr == "share_memory_"
            ) and ast.unparse(call.func.value) in names:
                problem = f"{what.path}:{call.lineno} shares `{ast.unparse(call.func.value)}` with other processes"
                yield Objection("strong", f"{problem}, which cannot access the memory of a GPU")


def of_left_devices(what: Introduced, failure: Failure, code: Code) -> Iterator[Objection]:
    """Yield moves of a module to the host which do not change the device that its constructor has stored."""
    holder, _, name = device_of(what).rpartition(".")
    if holder != "self" or not what.owner:
        return
    family = code.family(what.owner) | code.ancestors(what.owner)
    if any(
        owner in family and isinstance(node, ast.FunctionDef) and node.name in (name, "to", "cpu", "_apply")
        for _, tree in code.trees(*(f"class {each}" for each in family))
        for owner, _, node in functions(tree)
    ):
        return  # a property, or a move that may store the device
    for path, tree in code.trees(".cpu()", ".to("):
        known = instances(tree, family)
        for _, _, node in functions(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is_to_host(node):
                receiver = node.func.value
                made = called_name(receiver)
                if made in family or ast.unparse(receiver) in known:
                    problem = f"{path}:{node.lineno}: `{ast.unparse(node)}` moves the module"
                    yield Objection("strong", f"{problem}, but does not change the device in `self.{name}`")


def of_ignored_parameters(what: Introduced, failure: Failure, code: Code) -> Iterator[Objection]:
    """Yield device parameters that a function used before, and of which another device takes the place.

    Less speaks against it where the parameter is the current GPU by default, and the device that of an argument on
    another GPU: `def one_hot(x, device="cuda")`.
    """
    after = what.function
    if after is None or not device_of(what):
        return
    before = code.committed_tree(what.path)
    named = (each for owner, _, each in functions(before) if owner == what.owner) if before is not None else ()
    known = [each for each in named if isinstance(each, ast.FunctionDef) and each.name == after.name]
    taken = [*parameters(after), *(each.arg for each in after.args.kwonlyargs)]
    for name in taken if len(known) == 1 else ():
        if "device" in name and name in _read_names(known[0]) - _read_names(after):
            is_of_argument = re.split(r"[.\[]", device_of(what))[0] in taken
            is_elsewhere = _is_current_gpu(after, name) and all(is_on_gpu(each.device) for each in failure.operands)
            problem = f"{what.path}:{after.lineno}: `{after.name}` ignores its parameter `{name}`"
            reason = f"{problem} where it is given `{device_of(what)}`"
            yield Objection("weak" if is_of_argument and is_elsewhere else "strong", reason)


def _is_current_gpu(function: Function, name: str) -> bool:
    """Return whether the default of a parameter is the name of a kind of GPU without a number: "cuda"."""
    given, named = function.args, [*function.args.posonlyargs, *function.args.args]
    defaults = dict(zip([each.arg for each in reversed(named)], reversed(given.defaults), strict=False))
    defaults.update((each.arg, value) for each, value in zip(given.kwonlyargs, given.kw_defaults, strict=True) if value)
    default = defaults.get(name)
    return isinstance(default, ast.Constant) and default.value in {each.value for each in DeviceType}


def _read_names(function: Function) -> set[str]:
    return {each.id for each in ast.walk(function) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}


def _is_to_host(call: ast.Call) -> bool:
    """Return whether a call of a method moves to the host."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    return name == "cpu" or (name == "to" and re.search(r"[\"']cpu[\"']", _device_argument(call)) is not None)


def device_of(what: Introduced) -> str:
    """Return the device that is introduced: passed to a factory, or to the method that moves; "" if there is none."""
    if what.kind == "device":
        return what.root
    return _device_argument(what.node) if what.kind == "call" and what.name == "to" else ""


def _device_argument(node: ast.AST | None) -> str:
    """Return the device passed to `.to(…)`, or ""."""
    if not isinstance(node, ast.Call):
        return ""
    words = [each.value for each in node.keywords if each.arg == "device"]
    given = [*node.args[:1], *words]
    return ast.unparse(given[0]) if given else ""


@dataclass(frozen=True)
class Kept:
    """A statement by which a function stores a value beyond the call, where there is none yet.

    `keys` is what it assigns to the names in `target`, and `test` the condition.
    """

    target: str
    test: str
    keys: tuple[str, ...]
    line: int
    value: ast.AST


def _stored_by(function: Function, node: ast.AST | None) -> Kept | None:
    """Return the first statement that stores the result of a node beyond the call, under a condition."""
    made = _made_of(function, node)
    stores = (each for each in _stores(function) if any(_is_of(inner, node, made) for inner in ast.walk(each.value)))
    return next(stores, None)


def _stores(function: Function) -> Iterator[Kept]:
    """Yield what a function stores beyond the call where a test, a missing key or `setdefault` asks for it."""
    shared = {name for each in ast.walk(function) if isinstance(each, ast.Global | ast.Nonlocal) for name in each.names}
    local = {
        each.id for each in ast.walk(function) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    } - shared
    for around in ast.walk(function):
        test, inside = _condition_of(around)
        for each in (node for statement in inside for node in ast.walk(statement)):
            for target, value in _targets_of(each, test):
                text = ast.unparse(target)
                root = text.split(".")[0].split("[")[0]
                is_container = isinstance(target, ast.Subscript | ast.Attribute) or isinstance(each, ast.Call)
                if (is_container and root not in local) or root in shared:
                    yield Kept(text, test, tuple(_keys(target, function)), target.lineno, value)


def _condition_of(node: ast.AST) -> tuple[str, list[ast.AST]]:
    """Return the condition of a statement, as text, and what runs only if it holds; a call of `setdefault` is one."""
    if isinstance(node, ast.If):
        return ast.unparse(node.test), [node]
    if isinstance(node, ast.While):
        return ast.unparse(node.test), [*node.body]
    if isinstance(node, ast.Try):
        return "not in", [inner for each in node.handlers for inner in each.body]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "setdefault":
        return "not in", [node]
    return "", []


def _targets_of(node: ast.AST, test: str) -> Iterator[tuple[ast.expr, ast.AST]]:
    """Yield what a statement assigns to, and the value; so for `known.setdefault(key, value)`.

    A list counts where the condition asks for its length: `while len(known) <= n: known.append(value)`.
    """
    if isinstance(node, ast.Assign):
        yield from ((target, node) for target in node.targets)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
        holder = node.func.value
        if node.func.attr == "setdefault" and len(node.args) == 2:
            yield ast.copy_location(ast.Subscript(holder, node.args[0], ast.Load()), node), node
        elif node.func.attr == "append" and f"len({ast.unparse(holder)})" in test:
            yield holder, node


def _made_of(function: Function, node: ast.AST | None) -> set[str]:
    """Return the local names that are assigned what is computed from a node."""
    found: set[str] = set()
    for each in sorted(_assignments_in(function), key=lambda each: each.lineno):
        if any(_is_of(inner, node, found) for inner in ast.walk(each.value)):
            found.update(ast.unparse(target) for target in each.targets if isinstance(target, ast.Name))
    return found


def _assignments_in(function: Function) -> list[ast.Assign]:
    return [each for each in ast.walk(function) if isinstance(each, ast.Assign)]


def _is_of(inner: ast.AST, node: ast.AST | None, made: set[str]) -> bool:
    return inner is node or (isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load) and inner.id in made)
