"""Find what an edit introduces into a file: buffers, registered modules, method calls, attribute reads.

Of moves to the host it finds what it drops as well.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from devfix.model import Edit, Failure, ScopeVariable
from devfix.verification.objections.code import called_name, module_of
from devfix.verification.objections.value_kinds import annotation_of

Kind = Literal["buffer", "modules", "parameter", "call", "read", "device", "dropped"]
MOVES = frozenset({"to", "cpu", "cuda", "numpy", "detach", "clone"})
ANY_NAME = ""  # of what is registered by a computed name


@dataclass(frozen=True)
class Introduced:
    """One thing that an edit introduces.

    "buffer", "modules" (a ModuleList or ModuleDict) and "parameter": the class `owner` now registers its attribute
    `name`, or `ANY_NAME`. "call": the method `name` is called on the expression `root`. "read": the attribute `name` of
    `root` is read. "device": a device is passed to the call `name`. "dropped": `root` is no longer moved to the host by
    `name`;
    `node` and `function` are those of the file as it was. `function` is the enclosing function, None at module level.
    """

    kind: Kind
    path: str
    name: str
    root: str = ""
    owner: str = ""
    function: ast.FunctionDef | ast.AsyncFunctionDef | None = None
    node: ast.AST | None = None
    is_persistent: bool = False


def find_introduced(edits: Sequence[Edit]) -> Iterator[Introduced]:
    """Yield what edits introduce; nothing for a file that does not parse."""
    for edit in edits:
        try:
            before, after = ast.parse(edit.before), ast.parse(edit.after)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        yield from _beyond(_find_in(edit.path, after), _find_in(edit.path, before))
        for each in _beyond(_find_in(edit.path, before), _find_in(edit.path, after)):
            if each.kind == "call" and each.name == "cpu":
                yield replace(each, kind="dropped")


def _beyond(these: Iterator[Introduced], others: Iterator[Introduced]) -> Iterator[Introduced]:
    """Yield what is in one version of a file more often than in the other."""
    known = Counter(map(_key, others))
    for each in these:
        if known[_key(each)] > 0:
            known[_key(each)] -= 1
        else:
            yield each


def _key(each: Introduced) -> tuple[str, ...]:
    where = each.function.name if each.function is not None else ""
    return each.kind, each.name, each.root, each.owner, where


def _find_in(path: str, tree: ast.Module) -> Iterator[Introduced]:
    yield from _below(path, tree, "", None)


def _below(
    path: str, node: ast.AST, owner: str, function: ast.FunctionDef | ast.AsyncFunctionDef | None
) -> Iterator[Introduced]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield from _below(path, child, child.name, None)
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _below(path, child, owner, child)
        elif isinstance(child, ast.IfExp) and (asked := _asked_tensor(child.test)):
            found = _below(path, child, owner, function)
            yield from (each for each in found if each.kind not in ("call", "read") or each.root != asked)
        else:
            yield from _of(path, child, owner, function)
            yield from _below(path, child, owner, function)


def _asked_tensor(test: ast.expr) -> str:
    """Return the expression of which a test asks whether it is a tensor; "" for another test."""
    is_call = isinstance(test, ast.Call) and called_name(test) == "is_tensor" and len(test.args) == 1
    return ast.unparse(test.args[0]) if is_call and isinstance(test, ast.Call) else ""


def _of(
    path: str, node: ast.AST, owner: str, function: ast.FunctionDef | ast.AsyncFunctionDef | None
) -> Iterator[Introduced]:
    def introduces(kind: Kind, name: str, root: str = "", is_persistent: bool = False) -> Introduced:
        return Introduced(kind, path, name, root, owner, function, node, is_persistent)

    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        root = ast.unparse(node.func.value)
        name = node.func.attr
        if name in ("register_buffer", "register_parameter") and node.args:
            first = node.args[0]
            text = first.value if isinstance(first, ast.Constant) else None
            persistent = next((each.value for each in node.keywords if each.arg == "persistent"), None)
            stays_out = isinstance(persistent, ast.Constant) and persistent.value is False
            kind: Kind = "buffer" if name == "register_buffer" else "parameter"
            yield introduces(kind, text if isinstance(text, str) else ANY_NAME, root, not stays_out)
        elif name in MOVES:
            yield introduces("call", name, root)
    if isinstance(node, ast.Call) and any(each.arg == "device" for each in node.keywords):
        device = next(each.value for each in node.keywords if each.arg == "device")
        yield introduces("device", ast.unparse(node.func), ast.unparse(device))
    if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Call):
        called = called_name(node.value)
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            if isinstance(target, ast.Attribute) and called in ("ModuleList", "ModuleDict", "Parameter"):
                yield introduces(
                    "parameter" if called == "Parameter" else "modules", target.attr, ast.unparse(target.value)
                )
    is_read = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
    if is_read and isinstance(node, ast.Attribute) and (isinstance(node.value, ast.Attribute) or node.attr == "device"):
        yield introduces("read", node.attr, ast.unparse(node.value))


def with_names(what: Introduced, failure: Failure) -> Iterator[Introduced]:
    """Yield what is introduced, once for each name that it may have.

    What is registered by a computed name may be each attribute that is elsewhere than its module in the failed run.
    """
    if what.kind not in ("buffer", "parameter") or what.name != ANY_NAME:
        yield what
        return
    names = dict[str, None]()
    for scope in (*(frame.scope for frame in failure.frames), *(seen for _, seen in failure.scopes)):
        own = (each for each in scope if each.kind == "module" and what.owner in _class_names(each))
        modules = {each.expression: each.device for each in own}
        for each in scope:
            owner, _, name = each.expression.rpartition(".")
            if each.kind == "tensor" and name.isidentifier() and each.device != modules.get(owner, each.device):
                names[name] = None
    yield from (replace(what, name=name) for name in names)


def _class_names(variable: ScopeVariable) -> set[str]:
    return {variable.type, *(each.rpartition(".")[2] for each in variable.classes)}


def class_of(holder: str, what: Introduced, failure: Failure) -> tuple[str, str]:
    """Return the class of an expression where something is introduced, and the module of that class; "" if unknown.

    The run that failed had the object in scope, else a parameter's annotation or an assignment names the class.
    """
    if holder == "self":
        return what.owner, module_of(what.path)
    scopes = [(frame.place, frame.scope) for frame in reversed(failure.frames)] + list(failure.scopes)
    for place, scope in scopes:
        for each in scope if place.path == what.path else ():
            if each.expression == holder and each.kind in ("object", "instance", "module"):
                full = next((one for one in each.classes if one.rpartition(".")[2] == each.type), each.type)
                return each.type, full.rpartition(".")[0].rpartition(".")[2]
    return _class_of(holder, what), ""


def _class_of(holder: str, what: Introduced) -> str:
    """Return the class that the source names for an expression."""
    if what.function is None:
        return ""
    if annotation := annotation_of(holder, what.function):
        return re.sub(r"Optional\[(.*)\]|\s*\|\s*None|[\"']", r"\1", annotation).rpartition(".")[2]
    for node in ast.walk(what.function):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            called = called_name(node.value)
            if holder in [ast.unparse(each) for each in node.targets] and called[:1].isupper():
                return called
    return ""
