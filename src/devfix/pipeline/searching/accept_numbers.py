"""Adapt a candidate to callers that pass numbers: move tensors alone, or use `torch.as_tensor`, which takes both.

So it is done for arrays of NumPy that a name may have.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

import libcst as cst

from devfix.model import Edit, Operand, Patch
from devfix.sdk import argument, expression, last_name
from devfix.source import File
from devfix.verification.candidate import CandidateResult

TRIES = 2
HOST = '"cpu"'
PLAIN = re.compile(r"[^\W\d]\w*(\.\w+)*")  # a name or an attribute, which may be written more than once
DOUBLE = ("float64", "complex128")
ALONE = (cst.Arg, cst.Assign, cst.AnnAssign, cst.Return)  # around an expression that needs no parentheses


def accept_numbers(
    candidates: Iterable[CandidateResult],
    attempt: Callable[[Patch], CandidateResult],
    met: Iterable[Operand] = (),
) -> CandidateResult | None:
    """Return the first verified candidate that takes numbers too where a rejected one moved; None if there is none.

    Those candidates were rejected because some code passes numbers where they call a method of a tensor. `met` are the
    operands that failed.
    """
    is_double = any(each.dtype.endswith(DOUBLE) for each in met)
    patches = [
        patch
        for candidate in candidates
        if candidate.numbers and (patch := with_numbers(candidate.patch, candidate.numbers, is_double))
    ]
    for patch in patches[:TRIES]:
        candidate = attempt(patch)
        if candidate.verdict.outcome in ("verified", "progressed"):
            return candidate
    return None


def with_numbers(patch: Patch, names: Iterable[str], is_double: bool = False) -> Patch | None:
    """Return a patch with a test, or `torch.as_tensor`, for each new `x.to(…)`; None if it has no such move.

    What is no name is not evaluated twice, but converted; not so among tensors of double precision, since
    `torch.as_tensor` rounds a number of Python to single precision.
    """
    names = list(names)
    if is_double and not all(map(PLAIN.fullmatch, names)):
        return None
    edits = [_converting(edit, names) for edit in patch.edits]
    if edits == list(patch.edits):
        return None
    listed = " and ".join(f"`{name}`" for name in names)
    stay = all(map(PLAIN.fullmatch, names))
    if stay:
        title = f"{patch.title}, if it is a tensor"
        more = f"Some code has no tensor for {listed}: that stays what it is."
    else:
        title = f"{patch.title}, numbers too"
        more = f"Some code has numbers for {listed}, which `torch.as_tensor` accepts."
    return replace(patch, title=title, reason=f"{patch.reason} {more}", edits=tuple(edits))


def _converting(edit: Edit, names: Iterable[str]) -> Edit:
    before, after = File(edit.path, edit.before), File(edit.path, edit.after)
    if not _imports_torch(after):
        return edit
    known = [before.code(node) for name in names for node, _ in _moves(before, name)]
    nodes: dict[cst.CSTNode, cst.CSTNode] = {}
    for name in names:
        for node, device in _moves(after, name):
            if after.code(node) in known:
                known.remove(after.code(node))
            else:
                nodes[node] = _accepting(after, node, name, device)
    made = after.replace(nodes) if nodes else None
    written = after.edit(made) if made is not None else None
    return replace(edit, after=written.after) if written is not None else edit


def _accepting(file: File, move: cst.Call, name: str, device: str) -> cst.BaseExpression:
    """Return an expression that moves a tensor, as a call does, and takes a number too."""
    if not PLAIN.fullmatch(name):
        return expression(f"torch.as_tensor({name}, device={device})")
    text = f"{file.code(move)} if torch.is_tensor({name}) else {name}"
    return expression(text if isinstance(file.parent(move), ALONE) else f"({text})")


def _moves(file: File, name: str) -> list[tuple[cst.Call, str]]:
    """Return the calls that move an expression and do nothing else, each with its device."""
    found = []
    for node in file.within(file.module):
        if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
            continue
        if file.code(node.func.value) == name and (device := _device(file, node)):
            found.append((node, device))
    return found


def _device(file: File, call: cst.Call) -> str:
    """Return the device that a call moves to; "" if it does not move, or does more than that."""
    method = last_name(call.func)
    if method == "cpu" and not call.args:
        return HOST
    given = argument(call, "device", 0)
    return file.code(given.value) if method == "to" and len(call.args) == 1 and given is not None else ""


def _imports_torch(file: File) -> bool:
    return any(
        isinstance(node, cst.ImportAlias) and node.asname is None and file.code(node.name) == "torch"
        for node in file.within(file.module)
    )
