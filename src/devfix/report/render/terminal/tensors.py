"""The operands of a failure as text: name, device, type, and where each was created and moved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from devfix.model import is_on_gpu
from devfix.model.tensors import EventKind
from devfix.report.failure_types import EventRecord, FailureRecord, OperandRecord
from devfix.report.plain import one_line, plain, short_path

CREATIONS: Mapping[EventKind, str] = {
    "factory": "created",
    "constant": "created from Python values",
    "random": "created (random)",
    "load": "loaded",
    "numpy": "created from a NumPy array",
    "parameter": "created as a parameter",
    "op": "computed",
    "view": "created as a view",
    "move": "moved",
    "unknown": "first seen",
}


def operands(failure: FailureRecord) -> Iterator[RenderableType]:
    """Yield one block for each operand of the failing operator: its description and its history."""
    records = failure.operands
    if not records:
        return
    op = f" of {plain(failure.op)}" if failure.op else ""
    yield Text()
    yield Text(f"Operand{'s' if len(records) > 1 else ''}{op}:")
    column = max(len(plain(operand.name)) for operand in records)
    for operand in records:
        yield Padding(Group(_headline(operand, min(column, 40)), *_history(operand)), (0, 0, 0, 2))


def _headline(operand: OperandRecord, column: int) -> Text:
    held = f", {operand.owner_kind} of a module" if operand.owner_kind else ""
    kind = " ".join(part for part in (plain(operand.dtype), shape(operand.shape)) if part)
    device = operand.device
    return Text.assemble(
        (one_line(operand.name, 80).ljust(column), "bold"),
        "  ",
        (plain(device).ljust(6), "green" if is_on_gpu(device) else "yellow"),
        f"  {kind}{held}",
    )


def _history(operand: OperandRecord) -> Iterator[RenderableType]:
    creation = operand.creation
    if not creation:
        yield _line("creation not recorded", "")
        return
    yield from _event(CREATIONS.get(creation.kind, creation.kind), creation)
    for move in operand.transfers:
        if move != creation:
            yield from _event(f"moved to {move.device}", move)
    if not operand.transfers:
        yield _line("never moved", "")


def _event(what: str, event: EventRecord) -> Iterator[Text]:
    at = f" at {short_path(event.path)}:{event.line}" if event.path else ""
    yield _line(plain(what) + at, one_line(event.source, 160))


def _line(what: str, source: str) -> Text:
    return Text.assemble("  ", what, ("   " + source if source else "", "cyan"))


def shape(sizes: Sequence[int]) -> str:
    """Return a shape as Python prints it: "[2, 16]", "[]" for a scalar."""
    return "[" + ", ".join(str(size) for size in sizes) + "]"
