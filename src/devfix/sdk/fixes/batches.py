"""Move tensors that belong together: those that one statement unpacks, or one container or object holds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from devfix.model import Diagnosis, Safety, ScopeVariable
from devfix.sdk.changes import Change, change
from devfix.sdk.fixes.call_result import occurrences
from devfix.sdk.fixes.device_expressions import device_expressions
from devfix.sdk.fixes.fields import ALONE, move_fields
from devfix.sdk.fixes.moved_once import assign_locally
from devfix.sdk.trace.operands import blamed_operand
from devfix.sdk.trace.sites import FixSite
from devfix.source import File, Sources, last_name
from devfix.source.edits.statements import insert_after, insert_before
from devfix.source.queries.bound_names import is_bound
from devfix.source.queries.loops import assigned_names, outside_loops
from devfix.source.queries.naming import imported_name
from devfix.source.queries.optional import may_be_none
from devfix.source.queries.reading import assigned_values, is_read, parameters

ELEMENT = re.compile(r"(\w+(?:\.\w+)*)\[[^\[\]]+\]")
REGISTERED = frozenset({"ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"})
SINGLE = (cst.Name, cst.Attribute, cst.Call, cst.Subscript)


def move_batch(diagnosis: Diagnosis, site: FixSite, source: Sources) -> Iterator[Change]:
    """Yield changes that move a tensor and those it was unpacked from or is stored with, by one edit.

    After `states, actions = replay.sample(4)` both are moved, for `batch["ids"]` all of `batch`, for `batch.ids` its
    fields. What may be None in another call is left out. Such a change moves more than the tensor that failed: it is
    `joint`, and rejected if one of the others is then missing on the host.

    >>> list(move_batch(diagnosis, fix_sites(diagnosis)[-1], source))
    []
    """
    file = source.file(site.place)
    root = file.root_at(site.place) if file is not None else None
    if file is None or root is None:
        return
    for text in site.expressions:
        if text.isidentifier() and occurrences(file, root, text):
            yield from _move_unpacked(diagnosis, site, file, root, text)
        elif (match := ELEMENT.fullmatch(text)) is not None:
            yield from _move_elements(diagnosis, site, file, root, match[1])
        else:
            yield from move_fields(diagnosis, site, source, text)


def _move_unpacked(diagnosis: Diagnosis, site: FixSite, file: File, root: cst.CSTNode, name: str) -> Iterator[Change]:
    statement = _unpacking_statement(file, root, name)
    if statement is None:
        return
    target = statement.target if isinstance(statement, cst.For) else statement.targets[0].target
    every = list(_target_names(target))
    wrong = _on(site, blamed_operand(diagnosis).device)
    names = [each.value for each in every if isinstance(each, cst.Name) and each.value in wrong]
    names = [each for each in names if each == name or _is_used(file, statement, each)]
    names = [each for each in names if each == name or not may_be_none(file, statement, each)]
    if len(names) < 2 or name not in names:
        return
    for anchor in device_expressions(diagnosis, site, file):
        if not is_bound(file, statement, anchor) or anchor.startswith(tuple(f"{each}." for each in names)):
            continue
        module = _move_names(file, statement, names, len(every) == len(names), anchor)
        listed = f"{', '.join(f'`{each}`' for each in names[:-1])} and `{names[-1]}`"
        found = change(file, module, f"Move {listed} to `{anchor}` where they are unpacked", Safety.LIKELY)
        if found:
            yield replace(found, joint=True)


def _unpacking_statement(file: File, root: cst.CSTNode, name: str) -> cst.For | cst.Assign | None:
    """Return the statement that binds a name together with others: a loop around a node, or the only assignment."""
    for loop in file.loops_around(root):
        if isinstance(loop, cst.For) and name in _names(loop.target):
            return loop if isinstance(loop.target, cst.Tuple) else None
    function = file.function_of(root)
    found = [
        each
        for each in file.within(function or file.module)
        if isinstance(each, cst.Assign) and any(name in _names(one.target) for one in each.targets)
    ]
    if len(found) != 1 or file.line_of(found[0]) >= file.line_of(root) or file.function_of(found[0]) is not function:
        return None
    only = found[0].targets[0].target
    unpacks = len(found[0].targets) == 1 and isinstance(only, cst.Tuple) and isinstance(found[0].value, SINGLE)
    return found[0] if unpacks else None


def _move_names(
    file: File, statement: cst.For | cst.Assign, names: list[str], is_all: bool, anchor: str
) -> cst.Module | None:
    """Return the module with the names moved after they are unpacked, or in the unpacking if it binds nothing else."""
    line = f"{', '.join(names)} = {', '.join(f'{each}.to({anchor})' for each in names)}"
    if isinstance(statement, cst.For):
        first = statement.body.body[0]
        return insert_before(file, first, [line]) if isinstance(statement.body, cst.IndentedBlock) else None
    if is_all and all(isinstance(each, cst.Name) for each in _target_names(statement.targets[0].target)):
        moved = cst.parse_expression(f"(each.to({anchor}) for each in {file.code(statement.value)})")
        return file.replace({statement.value: moved})
    around = file.statement_of(statement)
    return insert_after(file, around, [line]) if around is not None else None


def _move_elements(diagnosis: Diagnosis, site: FixSite, file: File, root: cst.CSTNode, whole: str) -> Iterator[Change]:
    elements = [each for each in site.scope if (match := ELEMENT.fullmatch(each.expression)) and match[1] == whole]
    tensors = [each for each in elements if each.kind == "tensor"]
    function = file.function_of(root)
    if len(tensors) < 2 or len(tensors) < len(elements) or not _are_on(tensors, blamed_operand(diagnosis).device):
        return
    if _is_given(file, function, root, whole):  # the caller knows what else it holds
        return
    scope = file.class_of(root) if whole.startswith("self.") else function
    reads = [each for each in file.find(scope or file.module, whole) if is_read(file, each)]
    here = [each for each in file.find(file.statement_of(root) or root, whole) if is_read(file, each)]
    if len(reads) < 2 or not here or any(_is_read_alone(file, each) for each in reads):
        return
    for anchor in device_expressions(diagnosis, site, file):
        statement = outside_loops(file, here[0], whole, anchor)
        if (
            statement is None
            or anchor.startswith((f"{whole}.", f"{whole}["))
            or file.function_of(statement) != function
            or _is_repeated(file, here[0], whole, anchor)
        ):
            continue
        is_mixed = any(each.expression == whole and each.kind == "container" for each in site.scope)
        is_numbered = any(each.expression == whole and each.kind == "dictionary" for each in site.scope)
        rebuilt = _rebuild(file, whole, tensors[0].expression, anchor, is_mixed, is_numbered)
        if _may_be_registered(file, whole, scope):
            found = assign_locally(file, here[0], whole, anchor, rebuilt)
        else:
            module = insert_before(file, statement, [f"{whole} = {rebuilt}"])
            found = change(file, module, f"Move what `{whole}` holds to `{anchor}`", Safety.LIKELY)
        if found:
            yield replace(found, joint=True)


def _is_given(file: File, function: cst.FunctionDef | None, node: cst.CSTNode, whole: str) -> bool:
    """Return whether a container is a parameter, or an attribute that a constructor sets to one of its own."""
    if function is not None and whole in parameters(function):
        return True
    holder = file.class_of(node) if whole.startswith("self.") else None
    for made in file.within(holder, cst.FunctionDef) if holder is not None else ():
        given = assigned_values(file, whole, made) if made.name.value == "__init__" else []
        if any(isinstance(each, cst.Name) and each.value in parameters(made) for each in given):
            return True
    return False


def _may_be_registered(file: File, whole: str, scope: cst.CSTNode | None) -> bool:
    """Return whether an attribute is a module in other cases, such as a ParameterList: no list can take its place."""
    given = assigned_values(file, whole, scope) if whole.startswith("self.") else []
    return any(isinstance(each, cst.Call) and last_name(each.func) in REGISTERED for each in given)


def _is_repeated(file: File, node: cst.CSTNode, whole: str, anchor: str) -> bool:
    """Return whether a loop around a node gives another device in each step, and not another container."""
    names = [re.split(r"\W", text.removeprefix("next("))[0] for text in (whole, anchor)]
    for loop in file.loops_around(node):
        bound = assigned_names(file, loop)
        if names[0] in bound or names[1] in bound:
            return names[0] not in bound
    return False


def _is_read_alone(file: File, whole: cst.CSTNode) -> bool:
    """Return whether an element of a container is moved, or read on the host, where the container is read."""
    element = file.parent(whole)
    parent = file.parent(element) if isinstance(element, cst.Subscript) else None
    return isinstance(parent, cst.Attribute) and parent.attr.value in ALONE


def _rebuild(file: File, whole: str, element: str, anchor: str, is_mixed: bool, is_numbered: bool) -> str:
    """Return the expression of a container of the same kind with each tensor moved, and what else it holds kept."""
    tensor = imported_name(file, "torch.Tensor")

    def moved(name: str) -> str:
        asked = f"isinstance({name}, {tensor})" if tensor else f'hasattr({name}, "to")'
        return f"{name}.to({anchor}) if {asked} else {name}" if is_mixed else f"{name}.to({anchor})"

    if is_numbered or element.endswith(("']", '"]')):
        return f"{{key: {moved('value')} for key, value in {whole}.items()}}"
    given = assigned_values(file, whole)
    listed = f"{moved('each')} for each in {whole}"
    return f"tuple({listed})" if given and all(isinstance(each, cst.Tuple) for each in given) else f"[{listed}]"


def _are_on(tensors: list[ScopeVariable], device: str) -> bool:
    return all(each.device == device for each in tensors)


def _on(site: FixSite, device: str) -> set[str]:
    return {each.expression for each in site.scope if each.kind == "tensor" and each.device == device}


def _is_used(file: File, statement: cst.CSTNode, name: str) -> bool:
    """Return whether a name bound by a statement is used below it, and never moved or read on the host there.

    Such a tensor must be on the device of those it is used with.
    """
    scope, line = file.function_of(statement) or file.module, file.line_of(statement)
    reads = [each for each in file.find(scope, name) if is_read(file, each) and file.line_of(each) > line]
    return bool(reads) and not any(getattr(file.parent(each), "attr", cst.Name("_")).value in ALONE for each in reads)


def _names(target: cst.CSTNode) -> set[str]:
    return {each.value for each in _target_names(target) if isinstance(each, cst.Name)}


def _target_names(target: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the names of a target such as `i, (x, y)`, except starred ones, which are not tensors."""
    if isinstance(target, cst.Tuple | cst.List):
        for element in target.elements:
            yield from _target_names(element.value) if isinstance(element, cst.Element) else iter((element,))
    else:
        yield target
