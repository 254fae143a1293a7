"""What is known of a tensor: where it was born and moved, what held it, and where it met others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from devfix.model.world import SourceLocation

EventKind = Literal[
    "factory", "constant", "random", "load", "numpy", "parameter", "made", "move", "view", "op", "class", "unknown"
]
VariableKind = Literal["tensor", "module", "device", "string", "index", "optimizer", "object", "instance"]
Relation = Literal["same", "source", "storage"]
OwnerKind = Literal["parameter", "buffer", "attribute"]


@dataclass(frozen=True)
class Event:
    """What happened to a tensor or module: a birth, a move or a derivation.

    `kind` is "factory", "constant", "random", "load", "numpy", "parameter", "made" (a module), "move", "view", "op",
    "class" (where an object's class is defined) or "unknown"; `op` is the qualified operator ("aten::arange") or
    function; `device` is where the result lies. `places` has the innermost frame outside of torch first and goes
    outward, owned frames included.
    """

    kind: EventKind
    op: str
    device: str
    places: tuple[SourceLocation, ...] = ()
    scope: tuple[ScopeVariable, ...] = ()

    @property
    def owned_place(self) -> SourceLocation | None:
        """The innermost place that lies in the repository, if any does."""
        return next((place for place in self.places if place.owned), None)


@dataclass(frozen=True)
class ScopeVariable:
    """An expression in scope at a place, and the device of what it holds.

    `kind` is "tensor", "module", "device" (a torch.device), "string" (one that names a device), "index" (an integer
    called `device`, `gpu`, `rank` or the like), "optimizer", "object" (a plain object that holds one of these; its
    history says where its class stands), or "instance" (another object, of a class that is not Python's own).
    `device` is "mixed" for a module that lies on several devices, "" where it holds nothing. `type` is the class
    name, "Property" of a device that a property gives. `tensors` counts, in a device map, a module's parameters and
    buffers on each device. `classes` has, for a module or object, the full names of its class and that one's bases,
    without Python's and torch's own ("accelerate.accelerator.Accelerator"); of torch, its loaders are told.
    """

    expression: str
    kind: VariableKind
    device: str
    type: str = ""
    dtype: str = ""
    shape: tuple[int, ...] = ()
    history: tuple[Event, ...] = ()
    tensors: tuple[tuple[str, int], ...] = ()
    classes: tuple[str, ...] = ()


@dataclass(frozen=True)
class NameRef:
    """A name for an operand in a frame of the failure.

    `relation` is "same" where the expression holds the operand itself, "source" where the operand was derived from it
    without a move (a view, a cast), "storage" where both share memory.
    """

    frame: int
    expression: str
    relation: Relation = "same"


@dataclass(frozen=True)
class ModuleOwner:
    """The module that holds an operand: `kind` is "parameter", "buffer" or "attribute" (which `.to()` does not see).

    `root` is the outermost module in the frame that registers all that leads to `expression`: moving it moves both.
    """

    expression: str
    frame: int
    type: str
    attribute: str
    kind: OwnerKind
    root: str = ""


@dataclass(frozen=True)
class Checksum:
    """The values of a tensor in short: a weighted sum, and that of its parts without their signs."""

    total: float
    size: float


@dataclass(frozen=True)
class Operand:
    """A tensor argument of the failing operator, with its history (oldest event first: the birth).

    `owner` is the module that holds it as the deepest frame sees it, `holders` as each frame sees it, deepest first.
    `copy` is where somebody last made a copy of it, or of what it derives from, on another device. `values` are known
    where the operator does not write to it.
    """

    argument: str
    device: str
    dtype: str = ""
    shape: tuple[int, ...] = ()
    names: tuple[NameRef, ...] = ()
    history: tuple[Event, ...] = ()
    owner: ModuleOwner | None = None
    holders: tuple[ModuleOwner, ...] = ()
    copy: Event | None = None
    values: Checksum | None = None

    @property
    def creation(self) -> Event | None:
        """The oldest event known, if any is."""
        return self.history[0] if self.history else None

    @property
    def transfers(self) -> tuple[Event, ...]:
        """The moves between devices, oldest first."""
        return tuple(event for event in self.history if event.kind == "move")
