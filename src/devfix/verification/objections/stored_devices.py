"""Objections to a device that becomes permanent because the value is stored for later calls."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from devfix.model import DeviceType, Failure, is_on_gpu
from devfix.verification.evidence import Objection, Strength
from devfix.verification.objections.code import Code, functions, instances
from devfix.verification.objections.introduced import Introduced
from devfix.verification.objections.value_kinds import Function, parameters


def of_stored_values(what: Introduced, failure: Failure, code: Code) -> Iterator[Objection]:
    """Yield values that are created on the device of one call's argument and stored for later calls."""
    function = what.function
    if what.kind not in ("device", "call") or function is None or function.name == "__init__":
        return
    yield from _shared(what, function)
    if what.kind == "call" and what.name not in ("to", "cuda"):
        return
    device = device_of(what)
    name = device.split(".")[0].split("[")[0]
    if name not in [*parameters(function), *(each.arg for each in function.args.kwonlyargs)]:
        return
    for kind in ("cache", "lru_cache"):
        if any(kind in ast.unparse(each).rpartition(".")[2] for each in function.decorator_list):
            if name == device:
                return  # the device is part of the key
            problem = f"{what.path}:{function.lineno}: `{function.name}` caches its results"
            yield Objection("weak", f"{problem}, also for arguments on other devices")
            return
    statement, test = _stored_by(function, what.node)
    if statement is None:
        return
    target = ast.unparse(statement.targets[0])
    if target == what.root and not re.search(r"\bis None\b|\bnot in\b|\bnot hasattr\b", test):
        return  # what is kept is moved, in each call: `if self.mask is not None: self.mask = self.mask.to(device)`
    if any("device" in each for each in (target, test, *_keys(statement.targets[0], function))):
        return
    if (
        target.startswith("self.")
        and "[" not in target
        and _constructs(what.node)
        and _is_module_class(what.owner, code)
    ):
        return  # a submodule, which a later move of its module takes along
    problem = f"{what.path}:{statement.lineno}: `{target}` is kept on the device of the first call"
    strength: Strength = "weak" if target.startswith("self.") and "[" not in target else "strong"
    yield Objection(strength, f"{problem}, and later ones may be on another")


def _constructs(node: ast.AST | None) -> bool:
    """Return whether a node moves what a class constructs, or passes a device to the class; tensors are not meant."""
    made = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else node
    made = made if isinstance(made, ast.Call) else node
    name = ast.unparse(made.func).rpartition(".")[2] if isinstance(made, ast.Call) else ""
    return name[:1].isupper() and not name.endswith("Tensor")


def _is_module_class(name: str, code: Code) -> bool:
    return any(each.endswith("Module") for each in code.ancestors(name))


def _keys(target: ast.expr, function: Function) -> list[str]:
    """Return what a function assigns to the names by which a statement stores a value: `key` of `cache[key] = …`."""
    names = {each.id for each in ast.walk(target) if isinstance(each, ast.Name)}
    return [ast.unparse(each.value) for each in _assigned(function) if names & set(map(ast.unparse, each.targets))]


def _shared(what: Introduced, function: Function) -> Iterator[Objection]:
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
                made = ast.unparse(receiver.func).rpartition(".")[2] if isinstance(receiver, ast.Call) else ""
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
    before = code.committed(what.path)
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


def _stored_by(function: Function, node: ast.AST | None) -> tuple[ast.Assign | None, str]:
    """Return the statement that stores the result of a node beyond the call, and the test around it."""
    shared = {name for each in ast.walk(function) if isinstance(each, ast.Global | ast.Nonlocal) for name in each.names}
    local = {
        each.id for each in ast.walk(function) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    } - shared
    made = _made_of(function, node)
    for around in ast.walk(function):
        if not isinstance(around, ast.If):
            continue
        for each in ast.walk(around):
            if not isinstance(each, ast.Assign) or not any(_is_of(inner, node, made) for inner in ast.walk(each)):
                continue
            target = each.targets[0]
            root = ast.unparse(target).split(".")[0].split("[")[0]
            is_container = isinstance(target, ast.Subscript | ast.Attribute)
            if (is_container and root not in local) or root in shared:
                return each, ast.unparse(around.test)
    return None, ""


def _made_of(function: Function, node: ast.AST | None) -> set[str]:
    """Return the local names that are assigned what is computed from a node."""
    found: set[str] = set()
    for each in sorted(_assigned(function), key=lambda each: each.lineno):
        if any(_is_of(inner, node, found) for inner in ast.walk(each.value)):
            found.update(ast.unparse(target) for target in each.targets if isinstance(target, ast.Name))
    return found


def _assigned(function: Function) -> list[ast.Assign]:
    return [each for each in ast.walk(function) if isinstance(each, ast.Assign)]


def _is_of(inner: ast.AST, node: ast.AST | None, made: set[str]) -> bool:
    return inner is node or (isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load) and inner.id in made)
