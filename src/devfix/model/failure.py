"""A failure: its stack, its operands, and the calls from which a test can reproduce it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from textwrap import shorten
from typing import Literal

from devfix.model.tensors import Operand, ScopeVariable
from devfix.model.world import DeviceType, SourceLocation


class SilentKind(str, Enum):
    """A kind of finding by which nothing fails."""

    RESULT_ON_HOST = "result-on-host"  # a result of tensors on the GPU alone is on the CPU
    NOT_MOVED = "not-moved"  # a module keeps a tensor where `.to` does not see it, and uses it
    STALE_CACHE = "stale-cache"  # what was kept of a call on one device is served to a call on another


# docs/reference/trace-format.md has the message of each; "other" is an exception unrelated to devices.
FailureKind = Literal[
    "device-mismatch",
    "index-device",
    "input-weight-type",
    "numpy-on-device",
    "deserialize",
    "generator-device",
    "invalid-ordinal",
    "no-device",
    "lengths-device",
    "recurrent-state",
    "pin-memory",
    "data-parallel",
    "collective",
    "gradient-device",
    "incompatible-data",
    "optimizer-state",
    "fork",
    "dtype-on-device",
    "autocast-device",
    "constructor-device",
    "device-check",
    "meta",
    "other",
]
RecipeKind = Literal[
    "literal", "name", "parameters", "list", "tuple", "set", "dict", "device", "made", "tensor", "unknown"
]
CallKind = Literal["function", "method", "property", "static", "make"]
Passing = Literal["positional", "plain", "keyword", "more"]  # how an argument is passed


@dataclass(frozen=True)
class Frame:
    """One frame of the failing call stack; `scope` is filled for owned frames."""

    place: SourceLocation
    scope: tuple[ScopeVariable, ...] = ()


@dataclass(frozen=True)
class Recipe:
    """Source code that recreates a value of the program; `kind` "unknown" if it cannot be recreated (`text`: its type).

    "literal": `text` is Python. "name": the name `text` of `module`. "parameters": those of the argument `text`.
    "list", "tuple", "set", "dict" (alternating keys and values): `items`. "device": `text`. "made": the class `text` of
    `module` is called with `items` and `keywords`, then gets `dtype` and `moves` (a part, "" for the whole, and its
    device). "tensor": `text` is its content ("values", "zeros", "ones", "full", "arange", "integers", "flags", "unit",
    "normal"), and `numbers` the values, as Python.
    """

    kind: RecipeKind
    text: str = ""
    module: str = ""
    items: tuple[Recipe, ...] = ()
    keywords: tuple[tuple[str, Recipe], ...] = ()
    numbers: str = ""
    dtype: str = ""
    shape: tuple[int, ...] = ()
    device: str = ""
    grad: bool = False
    evaluates: bool = False
    moves: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Argument:
    """An argument of a call; `how` is "positional" (only), "plain", "keyword" or "more" (of `*args`)."""

    name: str
    how: Passing
    value: Recipe
    is_default: bool = False


@dataclass(frozen=True)
class Call:
    """A call on the stack of a failure, as a test could make it.

    `how` is "function", "method" (of `instance`), "property", "static" (`function` has the class) or "make" (a class).
    `module` is imported with `root` (relative to the repository) on the path; `is_main`: it was run as the program.
    """

    frame: int
    module: str
    root: str
    how: CallKind
    function: str
    arguments: tuple[Argument, ...] = ()
    instance: Recipe | None = None
    is_main: bool = False


def is_in_place(name: str) -> bool:
    """Return whether a function of this name writes into its tensor, by PyTorch's convention.

    >>> is_in_place("add_"), is_in_place("add"), is_in_place("__and__")
    (True, False, False)
    """
    return name.endswith("_") and not name.endswith("__")


@dataclass(frozen=True)
class Failure:
    """The failure of a run: the exception, the operator, its operands, the stack (outermost frame first).

    `operations` counts the operators that the process had run before it, to compare two runs. `scopes` has what a
    second run recorded at locations that are no longer on the stack, `calls` the calls on the stack that a test could
    make, innermost first, and `test` the pytest id of the test that failed. `uncaught`: it ended the process, a test or
    a thread. `accelerator` is the kind of the GPUs of the world, None without any or where it is not known; `claimed`
    are the kinds besides CUDA that the repository supports.
    """

    kind: FailureKind
    exception: str
    message: str
    op: str = ""
    frames: tuple[Frame, ...] = ()
    operands: tuple[Operand, ...] = ()
    thread: str = "MainThread"
    traceback: str = ""
    operations: int = 0
    scopes: tuple[tuple[SourceLocation, tuple[ScopeVariable, ...]], ...] = ()
    calls: tuple[Call, ...] = ()
    test: str = ""
    uncaught: bool = field(default=False, compare=False)  # of two processes, one may catch it
    accelerator: DeviceType | None = field(default=None, compare=False)
    claimed: tuple[DeviceType, ...] = field(default=(), compare=False)

    def writes_to(self, operand: Operand) -> bool:
        """Return whether the failing operator writes into the operand."""
        return operand.argument == "out" or (is_in_place(self.op) and operand.argument in ("self", "input"))

    @property
    def summary(self) -> str:
        """The first line of the message, cut between words to at most 120 characters."""
        return shorten(self.message.strip().partition("\n")[0], 120, placeholder=" …")

    @property
    def owned_frames(self) -> tuple[Frame, ...]:
        """The frames in the repository, outermost first."""
        return tuple(frame for frame in self.frames if frame.place.owned)

    @property
    def at(self) -> SourceLocation | None:
        """The location of the failure: its deepest frame in the repository, else the deepest frame."""
        frames = self.owned_frames or self.frames
        return frames[-1].place if frames else None
