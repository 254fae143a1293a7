"""Move the tensors in the fields of an object: a dataclass, a named tuple, an object of another plain class."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import libcst as cst

from devfix.model import Diagnosis, Safety
from devfix.sdk.changes import Change, change
from devfix.sdk.fixes.device_expressions import device_expressions
from devfix.sdk.trace.operands import blamed_operand
from devfix.sdk.trace.sites import FixSite
from devfix.source import File, Sources
from devfix.source.edits.expressions import MOVES
from devfix.source.edits.statements import insert_before
from devfix.source.queries.bound_names import is_bound
from devfix.source.queries.loops import outside_loops
from devfix.source.queries.modules import imported_as
from devfix.source.queries.reading import definition, is_read, parameters

FIELD = re.compile(r"([^\W\d]\w*)\.([^\W\d]\w*)")
ALONE = (*MOVES, "numpy", "tolist", "item", "pin_memory")
MOST = 12  # fields moved by one change
Kind = Literal["named tuple", "movable", "plain"]


def move_fields(diagnosis: Diagnosis, site: FixSite, source: Sources, text: str) -> Iterator[Change]:
    """Yield changes that move a field such as `batch.ids` with the other tensors of its object, before its first use.

    Fields that are read nowhere, already moved, or read on the host are left. If the class of the object has a `to`,
    that is called. An object that is a parameter is left to the caller, who knows what else it holds.

    >>> list(move_fields(diagnosis, fix_sites(diagnosis)[-1], source, "x"))
    []
    """
    file, match = source.file(site.place), FIELD.fullmatch(text)
    root = file.root_at(site.place) if file is not None else None
    if file is None or root is None or match is None or not _is_plain_local(file, root, site, match[1]):
        return
    whole = match[1]
    fields = _fields_to_move(file, root, site, whole, blamed_operand(diagnosis).device)
    here = [each for each in file.find(file.statement_of(root) or root, whole) if is_read(file, each)]
    if match[2] not in fields or not 2 <= len(fields) <= MOST or not here:
        return
    holder = next((each for each in site.scope if each.expression == whole), None)
    # A scope has the classes of all objects but tuples.
    kind: Kind = "named tuple" if holder is None else "movable" if _has_move(file, source, holder.type) else "plain"
    for anchor in device_expressions(diagnosis, site, file):
        statement = outside_loops(file, here[0], whole, anchor)
        if statement is None or anchor.startswith(f"{whole}.") or not is_bound(file, statement, whole):
            continue
        if file.function_of(statement) is not file.function_of(root):
            continue
        for lines in _moves(whole, fields, anchor, kind):
            module = insert_before(file, statement, lines)
            found = change(file, module, f"Move the tensors of `{whole}` to `{anchor}`", Safety.LIKELY)
            if found:
                yield replace(found, joint=True)


def _is_plain_local(file: File, root: cst.CSTNode, site: FixSite, whole: str) -> bool:
    """Return whether a name is a variable of the function at a node, and an object that is no module."""
    function = file.function_of(root)
    if whole in ("self", "cls") or (function is not None and whole in parameters(function)):
        return False
    if any(each.expression == whole and each.kind not in ("object", "instance") for each in site.scope):
        return False
    return imported_as(file, whole) is None and is_bound(file, root, whole)


def _fields_to_move(file: File, root: cst.CSTNode, site: FixSite, whole: str, device: str) -> list[str]:
    """Return the fields with tensors on a device that are read below, or all if the object is passed on as a whole."""
    reads = [each for each in file.find(file.function_of(root) or file.module, whole) if is_read(file, each)]
    used, alone, is_passed = set[str](), set[str](), False
    for each in reads:
        around = file.parent(each)
        if isinstance(around, cst.Attribute) and around.value is each:
            method = file.parent(around)
            is_alone = isinstance(method, cst.Attribute) and method.attr.value in ALONE
            (alone if is_alone else used).add(around.attr.value)
        is_passed = is_passed or isinstance(around, cst.Arg)
    tensors = [
        each.expression.rpartition(".") for each in site.scope if each.kind == "tensor" and each.device == device
    ]
    names = [name for owner, _, name in tensors if owner == whole and name.isidentifier()]
    return [name for name in names if name not in alone and (is_passed or name in used)]


def _moves(whole: str, fields: list[str], anchor: str, kind: Kind) -> Iterator[list[str]]:
    """Yield the lines that move the fields of an object, the likeliest first."""
    moved = {name: f"{whole}.{name}.to({anchor})" for name in fields}
    if kind == "named tuple":
        yield [f"{whole} = {whole}._make(each.to({anchor}) for each in {whole})"]
        yield [f"{whole} = {whole}._replace({', '.join(f'{name}={value}' for name, value in moved.items())})"]
        return
    if kind == "movable":
        yield [f"{whole} = {whole}.to({anchor})"]
    yield [f"{whole}.{name} = {value}" for name, value in moved.items()]


def _has_move(file: File, source: Sources, type_name: str) -> bool:
    """Return whether a class of the repository defines `to`."""
    files = (file, *source.containing(f"class {type_name}"))
    return any(definition(each, f"{type_name}.to") is not None for each in files)
