"""A small program in which a tensor on the host meets one on a GPU, to ask the helpers of rules about."""

from __future__ import annotations

from collections.abc import Sequence

from devfix.model import (
    Confidence,
    Diagnosis,
    Event,
    Failure,
    Finding,
    Frame,
    NameRef,
    Operand,
    ScopeVariable,
    SourceLocation,
)
from devfix.sdk import Change, File, FixSite, Sources

X = ScopeVariable("x", "tensor", "cuda:0", "torch.Tensor", shape=(3,))


def place(code: str, text: str, function: str = "f", path: str = "main.py") -> SourceLocation:
    """Where a text first stands in a file."""
    start = code.index(text)
    line, column = code.count("\n", 0, start) + 1, start - code.rfind("\n", 0, start) - 1
    stop = start + len(text)
    end = stop - code.rfind("\n", 0, stop) - 1
    return SourceLocation(path, line, function, code.count("\n", 0, stop) + 1, column, end, owned=True)


def tensor(name: str, device: str = "cpu", **fields: object) -> ScopeVariable:
    return ScopeVariable(name, "tensor", device, **{"type": "torch.Tensor", "shape": (3,), **fields})  # type: ignore[arg-type]


def meeting(
    code: str,
    failing: str,
    name: str = "mask",
    scope: Sequence[ScopeVariable] = (),
    history: Sequence[Event] = (),
    function: str = "f",
    op: str = "aten::add",
    argument: str = "other",
    device: str = "",
) -> tuple[Diagnosis, Sources]:
    """A diagnosis of the tensor `name`, which is on the host and meets `x`; and the program's one file."""
    seen = (X, tensor(name), *scope)
    operands = (
        Operand("self", "cuda:0", shape=(3,), names=(NameRef(0, "x"),)),
        Operand(argument, "cpu", shape=(3,), names=(NameRef(0, name),), history=tuple(history)),
    )
    frames = (Frame(place(code, failing, function), seen),)
    failure = Failure("device-mismatch", "RuntimeError", "…", op, frames, operands)
    finding = Finding(1, "…", Confidence.DIRECT, device)
    return Diagnosis("test/rule", "…", failure, finding), Sources({"main.py": code.encode()}.get)


def use_site(diagnosis: Diagnosis, *expressions: str, kind: str = "use") -> FixSite:
    """The failing expression as a site that names the tensor."""
    frame = diagnosis.failure.frames[0]
    return FixSite(kind, frame.place, frame.scope, expressions, 0)


def after(change: Change | None) -> str:
    """What a change makes of the one file that it edits; "" of none."""
    return change.edits[0].after.decode() if change is not None else ""


def main(code: str) -> File:
    return File("main.py", code.encode())
