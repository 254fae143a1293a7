"""Objections to a new buffer: assignments, casts and loops over buffers that now affect it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from copy import deepcopy

from devfix.model import Failure
from devfix.verification.evidence import Objection
from devfix.verification.objections.callers import passed_values, with_passed_values
from devfix.verification.objections.code import (
    Code,
    Function,
    as_function,
    containing,
    functions,
    instances,
    is_new_module,
    may_contain,
    may_hold,
    mentions,
    new_modules,
)
from devfix.verification.objections.fields import field_values
from devfix.verification.objections.introduced import Introduced, class_of
from devfix.verification.objections.value_kinds import is_of_arrays, is_of_numbers, kind_of, parameters

NO_TENSOR = "and a buffer takes tensors alone"
_CASTS = {"half": "float16", "bfloat16": "bfloat16", "double": "float64"}
_DTYPE = re.compile(r"\b(float16|half|bfloat16|float64|double|float8\w*|\w*dtype)\b")
MODULE_NAMES = frozenset({"model", "module", "net", "network", "backbone", "encoder", "decoder", "unet", "vae"})
_KEEPS = frozenset({"copy_", "to", "cpu", "cuda", "detach", "clone", "requires_grad_", "numel", "element_size"})


def of_buffers(what: Introduced, failure: Failure, code: Code) -> Iterator[Objection]:
    """Yield objections to a tensor that becomes a buffer of a module."""
    if what.kind != "buffer":
        return
    family = code.family(what.owner) if what.owner else frozenset[str]()
    dtype = _dtype(what.name, failure)
    yield from _assignments(what.name, family, code, what.node)
    yield from _members(what, family, code)
    if not dtype or dtype in ("torch.float32", "torch.float64", "torch.float16", "torch.bfloat16", "torch.complex64"):
        yield from _casts(what, failure, code, containing(family, code))
    yield from _loops(what, dtype, code, containing(family, code))


def _dtype(name: str, failure: Failure) -> str:
    """Return the dtype of the operand that the attribute holds; "" if unknown."""
    for operand in failure.operands:
        held = [operand.owner, *operand.holders] if operand.owner else list(operand.holders)
        names = [each.expression.rpartition(".")[2] for each in operand.names]
        if name in names or any(each is not None and each.attribute == name for each in held):
            return operand.dtype if operand.dtype.startswith("torch.") else f"torch.{operand.dtype}"
    return ""


def of_attributes(what: Introduced, failure: Failure, code: Code) -> Iterator[Objection]:
    """Yield assignments to an attribute of objects without the method that is now called on it."""
    holder, _, name = what.root.rpartition(".")
    owner, stem = class_of(holder, what, failure) if what.kind == "call" and holder else ("", "")
    if not owner or not name.isidentifier():
        return
    family = code.family(owner)
    for each in _assignments(_stored_as(name, family, code), family, code, constructed=True):
        if each.strength == "strong":
            numbers = each.numbers and what.root
            yield Objection("strong", each.reason.replace(NO_TENSOR, f"which has no `.{what.name}`"), numbers)
    for given in field_values(name, owner, code, stem):
        if kind_of(given.value, given.function) == "other":
            problem = f"{given.path}:{given.line} gives `{ast.unparse(given.value)}` to the field `{name}`"
            numbers = what.root if is_of_numbers(given.value, given.function) else ""
            yield Objection("strong", f"{problem}, which has no `.{what.name}`", numbers)


def _stored_as(name: str, family: frozenset[str], code: Code) -> str:
    """Return the attribute in which the setter of a property keeps the tensor to which it converts what it is given.

    Returns the name itself if there is no such setter.
    """
    for _, tree in code.trees(f"{name}.setter"):
        for owner, function, node in functions(tree):
            if owner not in family or function is None or function.name != name or not isinstance(node, ast.Assign):
                continue
            for target in node.targets:
                if ast.unparse(target).startswith("self.") and kind_of(node.value, function) == "tensor":
                    return ast.unparse(target).removeprefix("self.")
    return name


def _is_of_tensors(value: ast.expr, path: str, owner: str, function: Function | None, code: Code) -> bool:
    """Return whether a value is computed by methods of a parameter for which all calls pass tensors: `x.mean(0)`."""
    root = value
    while isinstance(root, ast.Call | ast.Attribute | ast.Subscript):
        root = root.func if isinstance(root, ast.Call) else root.value
    if not isinstance(root, ast.Name) or function is None or root.id not in parameters(function):
        return False
    passed = [kind_of(each, around) for _, _, each, around in passed_values(path, owner, function, root.id, code)]
    return bool(passed) and set(passed) == {"tensor"}


def _is_computed_of(value: ast.expr, attribute: str, function: Function | None) -> bool:
    """Return whether a value is a tensor where the attribute that gets it is one: `self.mean * 0.9 + new * 0.1`."""
    tensor = ast.parse("torch.empty(())", mode="eval").body

    class Known(ast.NodeTransformer):
        def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
            return tensor if ast.unparse(node) == attribute else self.generic_visit(node)

    return kind_of(Known().visit(deepcopy(value)), function) == "tensor"


def _is_made_alike(value: ast.expr, first: ast.expr | None) -> bool:
    """Return whether calls of one function compute two values, of which one may be moved: `build(8).to(device)`."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in ("to", "cuda"):
        value = value.func.value
    is_called = isinstance(value, ast.Call) and isinstance(first, ast.Call)
    return is_called and ast.unparse(value.func) == ast.unparse(first.func)  # type: ignore[attr-defined, union-attr]


def _assignments(
    name: str, family: frozenset[str], code: Code, call: ast.AST | None = None, constructed: bool = False
) -> Iterator[Objection]:
    """Yield assignments of values that are not tensors, directly or passed by callers: a buffer rejects them.

    The constructor's are left out unless asked for: there a buffer is registered instead, by `call`. What is
    computed by the function that the first value came from is of its kind.
    """
    first = call.args[1] if isinstance(call, ast.Call) and len(call.args) > 1 else None
    for path, tree in code.trees(name):
        made = instances(tree, family)
        for owner, function, node in functions(tree):
            for target, value in _attribute_assignments(node, name):
                receiver = ast.unparse(target)
                is_first = function is not None and function.name == "__init__"
                if receiver == "self" and (owner not in family or (is_first and not constructed)):
                    continue
                value = with_passed_values(value, path, owner, function, code)
                is_array = is_of_arrays(value, function, getattr(node, "lineno", 0))
                kind = "other" if is_array else kind_of(value, function)
                if kind == "unknown" and (
                    _is_computed_of(value, f"{receiver}.{name}", function)
                    or _is_of_tensors(value, path, owner, function, code)
                    or _is_made_alike(value, first)
                ):
                    continue
                if kind not in ("other", "unknown") or (
                    kind == "unknown" and receiver != "self" and receiver not in made
                ):
                    continue
                is_sure = kind == "other" and (receiver == "self" or receiver in made)
                problem = f"{path}:{getattr(node, 'lineno', 0)} assigns `{ast.unparse(value)}` to `{name}`"
                ends = NO_TENSOR if kind == "other" else "which may be no tensor"
                numbers = f"self.{name}" if is_array or is_of_numbers(value, function) else ""
                yield Objection("strong" if is_sure else "weak", f"{problem}, {ends}", numbers)


def _attribute_assignments(node: ast.AST, name: str) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the object and the value of each assignment to an attribute."""
    if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if isinstance(target, ast.Attribute) and target.attr == name:
                yield target.value, node.value
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                for one, value in zip(target.elts, node.value.elts, strict=False):
                    if isinstance(one, ast.Attribute) and one.attr == name:
                        yield one.value, value
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "setattr" and len(node.args) == 3:
        word = node.args[1]
        if isinstance(word, ast.Constant) and word.value == name:
            yield node.args[0], node.args[2]


def _members(what: Introduced, family: frozenset[str], code: Code) -> Iterator[Objection]:
    """Yield class members of the name: `register_buffer` rejects a name that is taken."""
    for path, tree in code.trees(what.name):
        for node in ast.walk(tree):
            if not isinstance(node, ast.ClassDef) or node.name not in family:
                continue
            for child in node.body:
                names = [child.name] if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) else []
                if isinstance(child, ast.Assign):
                    names = [each.id for each in child.targets if isinstance(each, ast.Name)]
                if isinstance(child, ast.AnnAssign) and child.value is not None and isinstance(child.target, ast.Name):
                    names = [child.target.id]
                if what.name in names:
                    problem = f"{path}:{child.lineno}: {node.name} has a member `{what.name}`"
                    yield Objection("strong", f"{problem}, and register_buffer rejects a name that is taken")


def _casts(what: Introduced, failure: Failure, code: Code, holding: frozenset[str]) -> Iterator[Objection]:
    """Yield casts of whole modules, which change a buffer but not an attribute.

    `holding` names what may contain the buffer: a module that is made of other classes has none of it.
    """
    scopes = (frame.scope for frame in failure.frames)
    modules = {each.expression for scope in scopes for each in scope if may_contain(each, scope, holding)}
    for path, tree in code.trees(*(f".{name}(" for name in _CASTS), ".to("):
        made = new_modules(tree, holding)
        for owner, function, node in functions(tree):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if node.func.attr not in (*_CASTS, "to", "type"):
                continue
            receiver = ast.unparse(node.func.value)
            is_another = receiver == "self" and owner not in holding
            if not _is_cast(node, function or as_function(tree)) or made.get(receiver, True) is False or is_another:
                continue
            last = receiver.rpartition(".")[2]
            is_new = is_new_module(node.func.value) and mentions(node.func.value, holding)
            is_known = receiver in modules or receiver in made or last in MODULE_NAMES or is_new
            if is_known or _is_given_one(receiver, path, owner, function, holding, code):
                problem = f"{path}:{node.lineno}: `{ast.unparse(node)}` casts the buffers of a module"
                yield Objection("strong", f"{problem}, including `{what.name}`, which was not cast as an attribute")


def _is_cast(call: ast.Call, function: Function) -> bool:
    """Return whether a call of a method gives a module another dtype: by name, by a dtype, or by that of a tensor."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    args = " ".join(ast.unparse(each) for each in (*call.args, *(word.value for word in call.keywords)))
    if name in _CASTS:
        return not call.args
    is_like = name == "to" and len(call.args) == 1 and kind_of(call.args[0], function) == "tensor"
    return name in ("to", "type") and (_DTYPE.search(args) is not None or is_like)


def _is_given_one(
    name: str, path: str, owner: str, function: Function | None, holding: frozenset[str], code: Code
) -> bool:
    """Return whether a name is a parameter of a function that some caller gives a new module with the buffer."""
    if function is None or name not in parameters(function):
        return False
    for _, _, given, around in passed_values(path, owner, function, name, code):
        assigned = (each for each in ast.walk(around) if isinstance(each, ast.Assign))
        named = [each.value for each in assigned if ast.unparse(given) in map(ast.unparse, each.targets)]
        if any(is_new_module(each) and mentions(each, holding) for each in (given, *named)):
            return True
    return False


def _loops(what: Introduced, dtype: str, code: Code, holding: frozenset[str]) -> Iterator[Objection]:
    """Yield loops over all buffers, which now include the new one; not those of a new module of another class."""
    is_float = not dtype or "float" in dtype or "complex" in dtype
    for path, tree in code.trees(".buffers(", ".named_buffers("):
        made = new_modules(tree, holding)
        for node in ast.walk(tree):
            if not isinstance(node, ast.For | ast.comprehension):
                continue
            asked = [each for each in ast.walk(node.iter) if isinstance(each, ast.Attribute)]
            asked = [each for each in asked if each.attr in ("buffers", "named_buffers")]
            if not any(may_hold(each.value, made, holding) for each in asked):
                continue
            body = node.body if isinstance(node, ast.For) else []
            done = {
                each.func.attr
                for statement in body
                for each in ast.walk(statement)
                if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute)
            }
            is_changed = any(isinstance(each, ast.AugAssign) for statement in body for each in ast.walk(statement))
            works = is_changed or {name for name in done if name.endswith("_")} - _KEEPS
            line = node.iter.lineno
            problem = f"{path}:{line} iterates over all buffers, now including `{what.name}`"
            is_named = any(each.attr == "named_buffers" for each in asked)
            if is_named and (asked_for := _looked_up(node)):
                yield Objection("strong", f"{problem}, and asks for `{asked_for}`, which may not have it")
                continue
            if (done and done <= _KEEPS and not is_changed) or (is_named and _is_for_known_names(node)):
                continue
            if works and not is_float:
                yield Objection("strong", f"{problem}; it holds {dtype}, for which the code there fails or rounds")
            else:
                yield Objection("weak", problem)


def _is_for_known_names(loop: ast.For | ast.comprehension) -> bool:
    """Return whether a loop over named buffers uses each of them under `if name in known`, and nowhere else."""
    if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Tuple) or len(loop.target.elts) != 2:
        return False
    name, buffer = map(ast.unparse, loop.target.elts)
    asks = re.compile(rf"{re.escape(name)} in [\w.]+")
    others = [each for each in loop.body if not isinstance(each, ast.If) or not asks.fullmatch(ast.unparse(each.test))]
    others += [one for each in loop.body if isinstance(each, ast.If) for one in each.orelse]
    return len(others) < len(loop.body) and not any(mentions(each, frozenset({buffer})) for each in others)


def _looked_up(loop: ast.For | ast.comprehension) -> str:
    """Return the expression by which a loop over named buffers asks another container for the name; "" if none.

    A container that is asked first whether it has the name (`if name in known`) is not in danger.
    """
    name = ast.unparse(loop.target.elts[0]) if isinstance(loop.target, ast.Tuple) and loop.target.elts else ""
    inside = [each for part in (loop.body if isinstance(loop, ast.For) else loop.ifs) for each in ast.walk(part)]
    tests = (each for each in inside if isinstance(each, ast.Compare) and isinstance(each.ops[0], ast.In | ast.NotIn))
    known = {ast.unparse(each.comparators[0]) for each in tests if ast.unparse(each.left) == name}
    reads = (each for each in inside if isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Load))
    asked = (each for each in reads if ast.unparse(each.slice) == name and ast.unparse(each.value) not in known)
    return next(map(ast.unparse, asked), "")
