"""The record of a tensor: its creation and moves, the objects that hold it, and its operations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from devfix.model.world import SourceLocation

EventKind = Literal[
    "factory", "constant", "random", "load", "numpy", "parameter", "made", "move", "view", "op", "class", "unknown"
]
VariableKind = Literal[
    "tensor", "module", "device", "string", "index", "optimizer", "object", "instance", "container", "dictionary"
]
Relation = Literal["same", "source", "storage"]
OwnerKind = Literal["parameter", "buffer", "attribute"]


@dataclass(frozen=True)
class Event:
    """An event in the history of a tensor or module: a creation, a move or a derivation.

    `kind` is "factory", "constant", "random", "load", "numpy", "parameter", "made" (a module), "move", "view", "op",
    "class" (where an object's class is defined) or "unknown". `op` is the qualified operator ("aten::arange") or
    function, `device` the device of the result. `places` starts with the innermost frame outside of torch and goes
    outward.
    """

    kind: EventKind
    op: str
    device: str
    places: tuple[SourceLocation, ...] = ()
    scope: tuple[ScopeVariable, ...] = ()

    @property
    def owned_place(self) -> SourceLocation | None:
        """The innermost location in the repository, if there is one."""
        return next((place for place in self.places if place.owned), None)


@dataclass(frozen=True)
class ScopeVariable:
    """An expression in scope at a location, and the device of its value.

    `kind` is "tensor", "module", "device" (a torch.device), "string" (one that names a device), "index" (an integer
    named `device`, `gpu`, `rank` or similar), "optimizer", "object" (a plain object that holds one of these; its
    history has the definition of its class), "instance" (another object, of a class that is not Python's own),
    "container" (a dictionary, list or tuple that holds tensors and something else), or "dictionary" (one with tensors
    under numbers, so that its elements look like those of a list).
    `device` is "mixed" for a module on several devices, "" if it holds nothing. `type` is the class name, or "Property"
    for a device that a property returns, `qualified_type` the full name ("torch.nn.parameter.Parameter"). `tensors`
    counts, in a device map, a module's parameters and buffers on each device. `classes` has, for a module or object,
    the full names of its class and base classes ("accelerate.accelerator.Accelerator"), without those of Python and of
    torch, except torch's data loaders.
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
    qualified_type: str = ""

    @property
    def transfers(self) -> tuple[Event, ...]:
        """The moves between devices, oldest first."""
        return tuple(event for event in self.history if event.kind == "move")

    def may_be_on(self, device: str) -> bool:
        """Return whether it is on a device, or holds nothing, so that nothing says whether it was moved there."""
        return self.device in (device, "")


@dataclass(frozen=True)
class NameRef:
    """A name for an operand in a frame of the failure.

    `relation` is "same" if the expression holds the operand itself, "source" if the operand was derived from it without
    a move (a view, a cast), "storage" if both share memory.
    """

    frame: int
    expression: str
    relation: Relation = "same"


@dataclass(frozen=True)
class ModuleOwner:
    """The module that holds an operand: `kind` is "parameter", "buffer" or "attribute" (which `.to()` does not move).

    `root` is the outermost module in the frame whose registered submodules lead to `expression`: moving it moves both.
    `type` is the class name of the module, `qualified_type` its full name ("torch.nn.modules.linear.Linear").
    """

    expression: str
    frame: int
    type: str
    attribute: str
    kind: OwnerKind
    root: str = ""
    qualified_type: str = ""


@dataclass(frozen=True)
class Checksum:
    """A summary of a tensor's values: a weighted sum, and the sum of their magnitudes."""

    total: float
    size: float


@dataclass(frozen=True)
class Operand:
    """A tensor argument of the failing operator, with its history (oldest event first: the creation).

    `owner` is the module that holds it as the deepest frame sees it, `holders` as each frame sees it, deepest first.
    `sources` are the names of the tensors from which it was computed, those of the last steps first. `copy` is where a
    copy of it, or of its source, was last made on another device. `values` are known if the operator
    does not write to it.
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
    sources: tuple[NameRef, ...] = ()

    @property
    def creation(self) -> Event | None:
        """The oldest known event, if any."""
        return self.history[0] if self.history else None

    @property
    def creation_places(self) -> tuple[SourceLocation, ...]:
        """The calls that were running when it was created, innermost first; none if nothing is known of that."""
        return self.history[0].places if self.history else ()

    @property
    def transfers(self) -> tuple[Event, ...]:
        """The moves between devices, oldest first."""
        return tuple(event for event in self.history if event.kind == "move")
