"""The record of a failure in a report: its location, the tensors involved, where each was created and moved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from msgspec import Meta

from devfix.model.failure import FailureKind
from devfix.model.tensors import EventKind, OwnerKind
from devfix.model.world import DeviceType, WorldKind

Count = Annotated[int, Meta(ge=0)]
Line = Annotated[int, Meta(ge=0, description="0 where it is not known")]


@dataclass(frozen=True, kw_only=True)
class WorldRecord:
    """The devices that a program saw."""

    kind: WorldKind
    gpus: Count
    current: Count = 0
    device: Annotated[DeviceType, Meta(description="the kind of the GPUs")] = DeviceType.CUDA


@dataclass(frozen=True, kw_only=True)
class PlaceRecord:
    """A line of source; `owned`: it is in the repository."""

    path: str
    line: Line
    function: str = ""
    owned: bool = False
    source: Annotated[str, Meta(description="the line of source")] = ""


@dataclass(frozen=True, kw_only=True)
class EventRecord(PlaceRecord):
    """An event of a tensor: its creation, or a transfer to another device."""

    kind: EventKind
    op: str = ""
    device: str


@dataclass(frozen=True, kw_only=True)
class OperandRecord:
    """A tensor argument of the failing operator."""

    name: Annotated[str, Meta(description="what the program calls it")]
    argument: Annotated[str, Meta(description="what the operator calls it")] = ""
    device: str
    dtype: str
    shape: tuple[Count, ...]
    owner_kind: OwnerKind | Literal[""] = ""
    creation: EventRecord | None
    transfers: tuple[EventRecord, ...] = ()


@dataclass(frozen=True, kw_only=True)
class FindingRecord:
    """A rule's statement about a failure."""

    rule: str
    title: str
    operand: Annotated[int, Meta(description="an index into the operands")]
    reason: str


@dataclass(frozen=True, kw_only=True)
class FailureRecord:
    """A device failure, and the tensors involved."""

    kind: FailureKind
    exception: str
    message: str
    op: str
    thread: str = ""
    at: PlaceRecord | None
    operands: tuple[OperandRecord, ...]
    findings: tuple[FindingRecord, ...] = ()
    traceback: str = ""
