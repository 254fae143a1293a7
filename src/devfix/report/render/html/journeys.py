"""The journey of a tensor, its module tree and the copies of a run, as the templates show them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from devfix.report.failure_types import EventRecord, FailureRecord, OperandRecord, PlaceRecord
from devfix.report.render.terminal.devices import beginnings
from devfix.report.render.terminal.tensors import CREATIONS
from devfix.report.types import DeviceMapRecord, ModuleRecord

_ROWS = 40  # lines that copied, the busiest first


@dataclass(frozen=True)
class Stop:
    """A stop of a tensor's journey: what happened, on which device the tensor then was, and where."""

    kind: Literal["created", "moved", "unknown", "failed"]
    what: str
    device: str
    place: PlaceRecord | None


@dataclass
class Node:
    """A module and those inside it."""

    module: ModuleRecord
    below: list[Node] = field(default_factory=list)


@dataclass(frozen=True)
class Bar:
    """The copies of a line in one direction, without the fixes and with them; the widths are percentages."""

    place: PlaceRecord
    direction: str
    before: int
    after: int | None
    before_width: int
    after_width: int


def journey(operand: OperandRecord, failure: FailureRecord) -> Iterator[Stop]:
    """Yield the events of an operand, oldest first, up to the failing operator."""
    creation = operand.creation
    if creation is None:
        yield Stop("unknown", "creation not recorded", "", None)
    else:
        yield Stop("created", CREATIONS.get(creation.kind, creation.kind), creation.device, _place(creation))
        for move in operand.transfers:
            if move != creation:
                yield Stop("moved", "moved to", move.device, _place(move))
    if creation is not None and not operand.transfers:
        yield Stop("unknown", "never moved", operand.device, None)
    reader = f" by {failure.op}" if failure.op else ""
    yield Stop("failed", f"read{reader}: the failure", operand.device, failure.at)


def module_tree(modules: Sequence[ModuleRecord]) -> list[Node]:
    """Return the roots; each module is below the one whose expression is the longest beginning of its own."""
    nodes: dict[str, Node] = {}
    roots = list[Node]()
    for module in modules:
        node = Node(module)
        above = next((nodes[start] for start in beginnings(module.expression) if start in nodes), None)
        (above.below if above else roots).append(node)
        nodes.setdefault(module.expression, node)
    return roots


def bars(maps: Sequence[DeviceMapRecord]) -> list[Bar]:
    """Return the copies of each line, the busiest first; lines of both runs are matched by their source."""
    counts: list[dict[tuple[str, str, str], int]] = [{}, {}]
    places: dict[tuple[str, str, str], PlaceRecord] = {}
    for known, mapped in zip(counts, maps, strict=False):
        for each in mapped.transfers:
            key = (each.path, each.source or str(each.line), each.direction)
            known[key] = known.get(key, 0) + each.count
            places[key] = each
    most = max((count for known in counts for count in known.values()), default=1) or 1
    found = [
        Bar(
            place,
            key[2],
            counts[0].get(key, 0),
            counts[1].get(key, 0) if len(maps) > 1 else None,
            round(100 * counts[0].get(key, 0) / most),
            round(100 * counts[1].get(key, 0) / most),
        )
        for key, place in places.items()
    ]
    return sorted(found, key=lambda bar: -max(bar.before, bar.after or 0))[:_ROWS]


def _place(event: EventRecord) -> PlaceRecord | None:
    return event if event.path else None
