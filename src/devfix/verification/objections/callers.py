"""Objections to calling a method on, or reading an attribute of, a value to which others assign another type."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator

from devfix.model import Failure
from devfix.verification.evidence import Objection
from devfix.verification.objections.assignments import assigned_pairs
from devfix.verification.objections.code import Code, as_function, base_names, called_name, functions, instances
from devfix.verification.objections.introduced import Introduced
from devfix.verification.objections.value_kinds import (
    Function,
    annotation_of,
    compares,
    has_passed_value,
    is_mixed,
    is_of_numbers,
    is_settled,
    kind_of,
    of_parameter,
    parameters,
)

_QUANTISES = re.compile(
    r"quantize_dynamic|ao\.quantization|torchao|bitsandbytes|load_in_[48]bit|prepare_qat|convert_fx"
)
_TEXTS = (
    "quantize_dynamic",
    "ao.quantization",
    "torchao",
    "bitsandbytes",
    "load_in_8bit",
    "load_in_4bit",
    "convert_fx",
)
_ON_BASE = ("super().__init__",)
_CALLED = ("forward", "__call__")
_WITHOUT_WEIGHT = frozenset(
    {"Identity", "Sequential", "ModuleList", "ModuleDict", "ReLU", "GELU", "Dropout", "Flatten"}
)


def of_calls(what: Introduced, failure: Failure, code: Code) -> Iterator[Objection]:
    """Yield callers that pass a value without the method that is now called on a parameter."""
    function = what.function
    if what.kind not in ("call", "read") or function is None:
        return
    name = what.root.split(".")[0].split("[")[0]
    if what.root != name and not (what.kind == "call" and what.root.startswith(f"{name}.")):
        return
    if name not in parameters(function) and name not in [each.arg for each in function.args.kwonlyargs]:
        return
    if what.root != name or _is_guarded(function, name, what.node) or _is_made_tensor(function, name, what.node):
        return
    if of_parameter(name, function) == "other":
        problem = f"{what.path}:{function.lineno}: `{name}` need not be a tensor"
        yield Objection("strong", f"{problem}, by its default or annotation, and `.{what.name}` is called on it")
    elif annotation := _mixed_annotation(name, function, code):
        problem = f"{what.path}:{function.lineno}: `{name}` may be no tensor, as `{annotation}` says"
        yield Objection("weak", f"{problem}, and `.{what.name}` is read of it")
    yield from _callers(what, function, name, code)


def _mixed_annotation(name: str, function: Function, code: Code) -> str:
    """Return the annotation of a parameter that allows tensors and something else, by name or by a union; else ""."""
    annotation = annotation_of(name, function)
    if is_mixed(annotation):
        return annotation
    alias = annotation.rpartition(".")[2]
    for _, tree in code.trees(f"{alias} =") if alias.isidentifier() else ():
        for node in tree.body:
            is_alias = isinstance(node, ast.Assign) and alias in [ast.unparse(each) for each in node.targets]
            if isinstance(node, ast.Assign) and is_alias and is_mixed(ast.unparse(node.value)):
                return annotation
    return ""


def _is_guarded(function: Function, name: str, node: ast.AST | None) -> bool:
    """Return whether the call is inside a test of the parameter's type."""
    for each in ast.walk(function):
        if isinstance(each, ast.If | ast.IfExp):
            test = ast.unparse(each.test)
            asks = f"isinstance({name}," in test or f"hasattr({name}," in test or "is_tensor" in test
            if asks and any(inner is node for inner in ast.walk(each)):
                return True
    return False


def _is_made_tensor(function: Function, name: str, node: ast.AST | None) -> bool:
    """Return whether a function surely makes a tensor of a parameter above: `losses = torch.stack(losses)`.

    It may make several in one statement: `x, y = torch.as_tensor(x), torch.as_tensor(y)`.
    """
    above = [
        each for each in function.body if each.lineno < getattr(node, "lineno", 0) and isinstance(each, ast.Assign)
    ]
    given = [value for each in above for target, value in assigned_pairs(each) if ast.unparse(target) == name]
    return bool(given) and kind_of(given[-1]) == "tensor"


def _callers(what: Introduced, function: Function, name: str, code: Code) -> Iterator[Objection]:
    for path, call, given, around in passed_values(what.path, what.owner, function, name, code):
        kind = kind_of(given, around)
        if is_settled(function, name, what.node, given):
            continue
        if kind == "other" or (kind == "none" and not compares(function, name)):
            problem = f"{path}:{call.lineno} passes `{ast.unparse(given)}` as `{name}`"
            numbers = what.root if what.kind == "call" and is_of_numbers(given, around) else ""
            yield Objection("strong", f"{problem}, which has no `.{what.name}`", numbers)


def passed_values(
    path: str, owner: str, function: Function, name: str, code: Code
) -> Iterator[tuple[str, ast.Call, ast.expr, Function]]:
    """Yield what calls of a function pass for one of its parameters: file, call, value, and the calling function.

    `path` is the function's own file, `owner` its class or "". Classes that derive call a constructor too.
    """
    if function.name in _CALLED and owner:
        yield from _passed_to_objects(owner, function, name, code)
        return
    called = owner if function.name == "__init__" else function.name
    if not called or (called.startswith("__") and called.endswith("__")):
        return
    order = parameters(function)
    at = order.index(name) if name in order else None
    family = code.family(owner) if owner else frozenset[str]()
    is_method = bool(owner) and function.name != "__init__"
    heirs = {} if is_method or not owner else dict(_heirs(owner, family, code))
    for file, tree in code.trees(*((called, *heirs) if heirs or len(family) > 1 else [f"{called}("])):
        known = instances(tree, family) if family else frozenset[str]()
        for around_owner, around, node in functions(tree):
            if not isinstance(node, ast.Call):
                continue
            last = called_name(node)
            receivers = known | ({"self"} if around_owner in family else set())
            is_call = last in (called, *heirs) and _calls_function(
                node.func, owner if is_method else "", heirs.get(last, path), file, tree, receivers
            )
            passes_on = not is_method and around_owner in family - {owner} and ast.unparse(node.func) in _ON_BASE
            if not is_call and not passes_on:
                continue
            given = _argument_of(node, name, at)
            if given is not None:
                yield file, node, given, around or as_function(tree)


def _passed_to_objects(
    owner: str, function: Function, name: str, code: Code
) -> Iterator[tuple[str, ast.Call, ast.expr, Function]]:
    """Yield what calls of objects of a class pass for a parameter of its `forward`: `net(x, 0.5)`, `Net()(x, 0.5)`."""
    order, family = parameters(function), code.family(owner)
    for file, tree in code.trees(*family):
        known = instances(tree, family)
        for _, around, node in functions(tree):
            if not isinstance(node, ast.Call):
                continue
            func = node.func
            made = called_name(func)
            given = _argument_of(node, name, order.index(name) if name in order else None)
            if given is not None and (made in family or ast.unparse(func) in known):
                yield file, node, given, around or as_function(tree)


def _argument_of(call: ast.Call, name: str, at: int | None) -> ast.expr | None:
    """Return what a call passes for a parameter, by keyword or at a position."""
    given = next((each.value for each in call.keywords if each.arg == name), None)
    if given is None and at is not None and at < len(call.args):
        plain = not any(isinstance(each, ast.Starred) for each in call.args[: at + 1])
        given = call.args[at] if plain else None
    return given


def _heirs(owner: str, family: frozenset[str], code: Code) -> Iterator[tuple[str, str]]:
    """Yield the classes that are constructed by the constructor of a class from which they derive, and their files."""
    own = {
        node.name: (path, _has_constructor(node), base_names(node))
        for path, tree in code.trees(*(f"class {each}" for each in family))
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and node.name in family
    }
    found = {owner}
    while more := {name for name, (_, has, bases) in own.items() if not has and found & set(bases)} - found:
        found |= more
        yield from ((name, own[name][0]) for name in sorted(more))


def _has_constructor(node: ast.ClassDef) -> bool:
    return any(isinstance(each, ast.FunctionDef) and each.name == "__init__" for each in node.body)


def with_passed_values(value: ast.expr, path: str, owner: str, function: Function | None, code: Code) -> ast.expr:
    """Return an expression in a function with its parameters replaced by passed values that are surely not tensors.

    `1 / value` becomes `1 / 2.0` if some caller passes that.
    """
    if function is None:
        return value
    names = {each.id for each in ast.walk(value) if isinstance(each, ast.Name)}
    for name in sorted(each for each in names if has_passed_value(each, function, value.lineno)):
        for _, _, given, around in passed_values(path, owner, function, name, code):
            if kind_of(given, around) == "other":
                stands_alone = not any(isinstance(each, ast.Name) for each in ast.walk(given))
                number: ast.expr = ast.Constant(1.0)  # stands for the number that the caller's name holds
                plain = given if stands_alone or not is_of_numbers(given, around) else number
                value = _Replaced(name, plain).visit(copy.deepcopy(value))
                break
    return value


class _Replaced(ast.NodeTransformer):
    """Replaces a name by an expression."""

    def __init__(self, name: str, value: ast.expr) -> None:
        self.name, self.value = name, value

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.value if node.id == self.name else node


def _calls_function(
    func: ast.expr, owner: str, defined: str, path: str, tree: ast.Module, receivers: frozenset[str]
) -> bool:
    """Return whether a call in a file calls the given function, and not another one with its name.

    `owner` is the class of a method, or "" for a function, which is `defined` in a file.
    """
    if isinstance(func, ast.Attribute) and owner:
        value = func.value
        made = called_name(value)
        return ast.unparse(value) in receivers or made == owner
    stem = defined.rpartition("/")[2].removesuffix(".py")
    imports = [each for each in ast.walk(tree) if isinstance(each, ast.Import | ast.ImportFrom)]
    names = {alias.asname or alias.name for each in imports for alias in each.names}
    if isinstance(func, ast.Name):
        return path == defined or func.id in names or "*" in names
    modules = {
        alias.asname or alias.name for each in imports for alias in each.names if alias.name.rpartition(".")[2] == stem
    }
    return isinstance(func, ast.Attribute) and ast.unparse(func.value) in modules


def of_overrides(what: Introduced, failure: Failure, code: Code) -> Iterator[Objection]:
    """Yield methods of derived classes that do not take the device which is now passed to them."""
    holder, _, name = what.name.rpartition(".")
    if what.kind != "device" or holder != "self" or not what.owner:
        return
    family = code.family(what.owner)
    for path, tree in code.trees(f"def {name}("):
        for owner, _, node in functions(tree):
            if owner in family and isinstance(node, ast.FunctionDef) and node.name == name:
                taken = [each.arg for each in (*node.args.args, *node.args.kwonlyargs)]
                if "device" not in taken and node.args.kwarg is None:
                    problem = f"{path}:{node.lineno}: {owner}.{name} has no parameter `device`"
                    yield Objection("strong", f"{problem}, which is now passed to it")


def of_reads(what: Introduced, failure: Failure, code: Code) -> Iterator[Objection]:
    """Yield layers of the repository without the weight or bias that is now read."""
    if what.kind != "read" or what.name not in ("weight", "bias"):
        return
    layer = what.root.rpartition(".")[2].partition("[")[0]
    for path, tree in code.trees(*_TEXTS):
        nodes = [each for each in ast.walk(tree) if isinstance(each, ast.Attribute | ast.ImportFrom | ast.Call)]
        line = next((each.lineno for each in nodes if _QUANTISES.search(ast.unparse(each))), 0)
        if line:
            problem = f"{path}:{line} quantizes modules, whose `{what.name}` is then not a tensor"
            yield Objection("strong", f"{problem}, and `{what.root}.{what.name}.device` is read")
    for path, tree in code.trees(f".{layer} =", f".{layer}:"):
        for node in ast.walk(tree):
            if not isinstance(node, ast.Assign) or node.value is None:
                continue
            if not any(isinstance(each, ast.Attribute) and each.attr == layer for each in node.targets):
                continue
            for value in _choices(node.value):
                made = called_name(value)
                is_none = isinstance(value, ast.Constant) and value.value is None
                no_bias = what.name == "bias" and re.search(r"bias=(?!True)", ast.unparse(value))
                if made in _WITHOUT_WEIGHT or is_none or no_bias:
                    problem = f"{path}:{node.lineno} sets `{layer}` to `{ast.unparse(value)}`"
                    yield Objection("strong", f"{problem}, which has no `{what.name}`")


def _choices(value: ast.expr) -> list[ast.expr]:
    return [*_choices(value.body), *_choices(value.orelse)] if isinstance(value, ast.IfExp) else [value]
