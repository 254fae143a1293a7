"""Changes that rules yield, made of edits to files."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

import libcst as cst

from devfix.model import Edit, Safety
from devfix.source import File
from devfix.source.edits.expressions import MOVES

MOVED_DEVICE = re.compile(rb"\.(to|cuda|cpu)\(.*\)\s*\.device\b")
Node = TypeVar("Node", bound=cst.CSTNode)


@dataclass(frozen=True)
class Change:
    """A candidate edit.

    `title` says in the imperative what it does. `reason` is added to the finding's reason if the place of the edit
    needs one. A `joint` change also moves other tensors than the one that failed; if the next failure involves one of
    those, it holds only together with a change that moves what they met. A change that `recomputes` writes lines that
    compute at each use what was computed once, such as a property; otherwise lines must not compute more than before.
    """

    title: str
    safety: Safety
    edits: tuple[Edit, ...]
    reason: str = ""
    joint: bool = False
    recomputes: bool = False


Changes = Iterator[Change]


def change(
    file: File, module: cst.Module | None, title: str, safety: Safety = Safety.SAFE, reason: str = ""
) -> Change | None:
    """Return the change from `file` to `module`; None if nothing changes or the result would not compile.

    None as well if it moves a tensor only to read its device: `y.to(x.to(device).device)` says `device` in a long way.

    >>> file = File("m.py", b"y = torch.zeros(3)\\n")
    >>> call = file.find(file.module, "torch.zeros(3)")[0]
    >>> made = change(file, file.replace({call: add_keyword(call, "device", "x.device")}), "Give it a device")
    >>> made.edits[0].after
    b'y = torch.zeros(3, device=x.device)\\n'
    """
    edit = None if module is None else file.edit(module)
    if edit is None or _moves_for_a_device(edit.after) > _moves_for_a_device(edit.before):
        return None
    return Change(title, safety, (edit,), reason)


def _moves_for_a_device(data: bytes) -> int:
    """Return how often code reads the device of what it moves there: `x.to(device).device`."""
    if not MOVED_DEVICE.search(data):
        return 0
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError):  # a notebook with commands of IPython
        return 0
    return sum(
        isinstance(each, ast.Attribute)
        and each.attr == "device"
        and isinstance(each.value, ast.Call)
        and isinstance(each.value.func, ast.Attribute)
        and each.value.func.attr in MOVES
        for each in ast.walk(tree)
    )


def join_changes(title: str, *changes: Change | None) -> Change | None:
    """Return changes of different files as one, as safe as the least safe; None if one is missing or two edit one file.

    >>> files = [File(name, b"model.cuda()\\n") for name in ("a.py", "b.py")]
    >>> each = [made for file in files for made in rewrite(file, cst.parse_module("model.to(device)\\n"), "…")]
    >>> [edit.path for edit in join_changes("Move the model to `device`", *each).edits]
    ['a.py', 'b.py']
    >>> join_changes("Twice", each[0], each[0]) is None
    True
    """
    found = [each for each in changes if each is not None]
    edits = tuple(edit for each in found for edit in each.edits)
    if len(found) < len(changes) or not edits or len({edit.path for edit in edits}) < len(edits):
        return None
    reason = " ".join(dict.fromkeys(each.reason for each in found if each.reason))
    return Change(title, max((each.safety for each in found), key=lambda each: each.risk), edits, reason)


def rewrite(
    file: File,
    edits: Mapping[Node, cst.CSTNode] | cst.Module | None,
    title: str,
    safety: Safety = Safety.SAFE,
    reason: str = "",
    joint: bool = False,
) -> Iterator[Change]:
    """Yield the change that replaces nodes of a file, or the whole module.

    Yields nothing if there is nothing to replace, nothing changes, or the result would not compile.

    >>> file = File("m.py", b"y = torch.zeros(3)\\n")
    >>> call = file.find(file.module, "torch.zeros(3)")[0]
    >>> [each.edits[0].after for each in rewrite(file, {call: move_to(call, "device")}, "Move it")]
    [b'y = torch.zeros(3).to(device)\\n']
    >>> list(rewrite(file, {}, "Move nothing"))
    []
    """
    if isinstance(edits, Mapping):
        nodes: dict[cst.CSTNode, cst.CSTNode] = dict(edits.items())
        edits = file.replace(nodes) if nodes else None
    made = change(file, edits, title, safety, reason)
    if made is not None:
        yield replace(made, joint=joint)


def with_safety(changes: Iterable[Change], safety: Safety) -> Iterator[Change]:
    """Yield changes with another `safety`.

    >>> [str(each.safety) for each in with_safety([Change("Move it", Safety.SAFE, ())], Safety.LIKELY)]
    ['likely']
    """
    return (replace(each, safety=safety) for each in changes)


def first_is_safe(groups: Iterable[Iterable[Change]]) -> Iterator[Change]:
    """Yield the changes of all groups; those after the first group that has any become unsure.

    >>> each = Change("Move it", Safety.SAFE, ())
    >>> [str(each.safety) for each in first_is_safe([[], [each, each], [each]])]
    ['safe', 'safe', 'unsure']
    """
    found = False
    for group in groups:
        changes = list(group)
        yield from with_safety(changes, Safety.UNSURE) if found else changes
        found = found or bool(changes)
