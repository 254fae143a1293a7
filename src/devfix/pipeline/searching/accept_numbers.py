"""Adapt a candidate to callers that pass numbers: use `torch.as_tensor`, which takes tensors and numbers alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import libcst as cst

from devfix.model import Edit, Patch
from devfix.sdk import argument, expression, last_name
from devfix.source import File
from devfix.verification.candidate import CandidateResult

TRIES = 2
HOST = '"cpu"'


def accept_numbers(
    candidates: Iterable[CandidateResult], attempt: Callable[[Patch], CandidateResult]
) -> CandidateResult | None:
    """Return the first verified candidate that converts where a rejected one moved; None if there is none.

    Those candidates were rejected because some code passes numbers where they call a method of a tensor.
    """
    patches = [
        patch
        for candidate in candidates
        if candidate.numbers and (patch := with_numbers(candidate.patch, candidate.numbers))
    ]
    for patch in patches[:TRIES]:
        candidate = attempt(patch)
        if candidate.verdict.outcome in ("verified", "progressed"):
            return candidate
    return None


def with_numbers(patch: Patch, names: Iterable[str]) -> Patch | None:
    """Return a patch with `torch.as_tensor(x, device=…)` for each new `x.to(…)`; None if it has no such move."""
    names = list(names)
    edits = [_converting(edit, names) for edit in patch.edits]
    if edits == list(patch.edits):
        return None
    listed = " and ".join(f"`{name}`" for name in names)
    reason = f"{patch.reason} Some code passes numbers for {listed}, which `torch.as_tensor` accepts."
    return replace(patch, title=f"{patch.title}, numbers too", reason=reason, edits=tuple(edits))


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
                nodes[node] = expression(f"torch.as_tensor({name}, device={device})")
    made = after.replace(nodes) if nodes else None
    written = after.edit(made) if made is not None else None
    return replace(edit, after=written.after) if written is not None else edit


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
