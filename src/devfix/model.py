"""Every record that flows through devfix, from the target to the report.

All records are frozen and made of the standard library alone. Paths of owned files are relative to the repository and
use forward slashes; paths of foreign files are absolute. Lines count from 1, columns from 0 in UTF-8 bytes, as in
`code.co_positions()`. Devices are strings as `str(torch.device)` gives them: "cpu", "cuda:0".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from types import MappingProxyType


@dataclass(frozen=True)
class World:
    """The machine that a program sees: no GPU, real GPUs, or simulated ones.

    `kind` is "cpu", "real" or "simulated"; `current` is the device index that is current when the program starts.
    """

    kind: str
    gpus: int = 0
    current: int = 0

    @property
    def name(self) -> str:
        """The name under which verdicts list this world: "cpu", "cuda x1", "cuda x2, current 1"."""
        if self.kind == "cpu":
            return "cpu"
        return f"cuda x{self.gpus}" + (f", current {self.current}" if self.current else "")


@dataclass(frozen=True)
class Place:
    """An expression in a source file; the columns are None where the interpreter does not know them (Python 3.10)."""

    path: str
    line: int
    function: str = ""
    end_line: int | None = None
    column: int | None = None
    end_column: int | None = None
    owned: bool = False


@dataclass(frozen=True)
class Binding:
    """An expression in scope at a place, and the device of what it holds.

    `kind` is "tensor", "module", "device" (a torch.device), "string" (one that names a device), "index" (an integer
    called `device`, `gpu`, `rank` or the like), "optimizer", or "object" (a plain object that holds one of these; its
    history says where its class stands); `device` is "mixed" for a module that lies on several devices, "" where it
    holds nothing; `type` is the class name; `tensors` counts, in a device map, a module's parameters and buffers on
    each device.
    """

    expression: str
    kind: str
    device: str
    type: str = ""
    dtype: str = ""
    shape: tuple[int, ...] = ()
    history: tuple[Event, ...] = ()
    tensors: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Event:
    """What happened to a tensor or module: a birth, a move or a derivation.

    `kind` is "factory", "constant", "random", "load", "numpy", "parameter", "made" (a module), "move", "view", "op",
    "class" (where an object's class is defined) or "unknown"; `op` is the qualified operator ("aten::arange") or
    function; `device` is where the result lies. `places` has the innermost frame outside of torch first and goes
    outward, owned frames included.
    """

    kind: str
    op: str
    device: str
    places: tuple[Place, ...] = ()
    scope: tuple[Binding, ...] = ()

    @property
    def owned_place(self) -> Place | None:
        """The innermost place that lies in the repository, if any does."""
        return next((place for place in self.places if place.owned), None)


@dataclass(frozen=True)
class Held:
    """A name for an operand in a frame of the failure.

    `relation` is "same" where the expression holds the operand itself, "source" where the operand was derived from it
    without a move (a view, a cast), "storage" where both share memory.
    """

    frame: int
    expression: str
    relation: str = "same"


@dataclass(frozen=True)
class Owner:
    """The module that holds an operand: `kind` is "parameter", "buffer" or "attribute" (which `.to()` does not see).

    `root` is the outermost module in the frame that registers all that leads to `expression`: moving it moves both.
    """

    expression: str
    frame: int
    type: str
    attribute: str
    kind: str
    root: str = ""


@dataclass(frozen=True)
class Operand:
    """A tensor argument of the failing operator, with its history (oldest event first: the birth).

    `owner` is the module that holds it as the deepest frame sees it, `holders` as each frame sees it, deepest first.
    `copy` is where somebody last made a copy of it, or of what it derives from, on another device.
    """

    argument: str
    device: str
    dtype: str = ""
    shape: tuple[int, ...] = ()
    names: tuple[Held, ...] = ()
    history: tuple[Event, ...] = ()
    owner: Owner | None = None
    holders: tuple[Owner, ...] = ()
    copy: Event | None = None

    @property
    def birth(self) -> Event | None:
        """The oldest event known, if any is."""
        return self.history[0] if self.history else None

    @property
    def moves(self) -> tuple[Event, ...]:
        """The moves between devices, oldest first."""
        return tuple(event for event in self.history if event.kind == "move")


@dataclass(frozen=True)
class Frame:
    """One frame of the failing call stack; `scope` is filled for owned frames."""

    place: Place
    scope: tuple[Binding, ...] = ()


@dataclass(frozen=True)
class Recipe:
    """How a value of the program is made again in source; `kind` "unknown" is one that cannot be (`text`: its type).

    "literal": `text` is Python; "name": what `module` has as `text`; "parameters": those of the argument `text`;
    "list", "tuple", "set", "dict" (keys and values in turn): `items`; "device": `text`; "made": the class `text` of
    `module` is called with `items` and `keywords`, then gets `dtype` and `moves` (a part, "" for the whole, and its
    device). "tensor": `text` says what it holds ("values", "zeros", "ones", "full", "arange", "integers", "flags",
    "unit", "normal"), `numbers` which ones, as Python.
    """

    kind: str
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
    how: str
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
    how: str
    function: str
    arguments: tuple[Argument, ...] = ()
    instance: Recipe | None = None
    is_main: bool = False


@dataclass(frozen=True)
class Failure:
    """What went wrong in a run: the exception, the operator, its operands, the stack (outermost frame first).

    `operations` counts the operators that had run in the process before it, so that two runs can be held side by side;
    `scopes` has what a second look recorded at places that are no longer on the stack, `calls` the calls on it that a
    test could make, innermost first, and `test` is what pytest calls the test that failed.
    """

    kind: str
    exception: str
    message: str
    op: str = ""
    frames: tuple[Frame, ...] = ()
    operands: tuple[Operand, ...] = ()
    thread: str = "MainThread"
    traceback: str = ""
    operations: int = 0
    scopes: tuple[tuple[Place, tuple[Binding, ...]], ...] = ()
    calls: tuple[Call, ...] = ()
    test: str = ""

    @property
    def owned_frames(self) -> tuple[Frame, ...]:
        """The frames that lie in the repository, outermost first."""
        return tuple(frame for frame in self.frames if frame.place.owned)

    @property
    def at(self) -> Place | None:
        """Where the repository handed the tensors over: its deepest frame, else the deepest frame of all."""
        frames = self.owned_frames or self.frames
        return frames[-1].place if frames else None


@dataclass(frozen=True)
class Transfer:
    """Copies between devices made by one source line; `direction` is "to-device", "to-host" or "between-devices"."""

    place: Place
    direction: str
    count: int
    bytes: int


@dataclass(frozen=True)
class Visit:
    """What an operator did at the places asked for: how often it ran to its end there, and how often it failed.

    `works` says whether it works on values and was called there by the program itself, and not by a function of torch;
    others make, move, cut, join or view tensors. `device` counts the results on a device.
    """

    op: str
    ran: int
    failed: int
    works: bool = True
    device: int = 0


@dataclass(frozen=True)
class Computed:
    """What an operator computed in a run: how often its results lay on the host and on devices, and their values.

    `total` is a weighted sum over the values of all results, `size` that of its parts without their signs; both are
    known in the CPU world alone.
    """

    op: str
    host: int
    device: int
    total: float = 0.0
    size: float = 0.0


class Outcome(Enum):
    """What a run of the program said."""

    CLEAN = "clean"
    FAILED = "failed"  # a device failure: `Run.failure` tells it
    OTHER = "failed otherwise"  # another exception, or an exit code without one
    TIMEOUT = "timed out"
    SIGNAL = "killed by a signal"
    NOT_STARTED = "did not start"


@dataclass(frozen=True)
class Run:
    """One run of the program in one world; trouble with our own letters is data in `trouble`.

    `handled` is the last device failure that a program which ended well has caught.
    """

    world: World
    command: tuple[str, ...]
    outcome: Outcome
    exit_code: int | None
    seconds: float
    stdout: str = ""
    stderr: str = ""
    failure: Failure | None = None
    transfers: tuple[Transfer, ...] = ()
    watched: tuple[tuple[Place, tuple[Binding, ...]], ...] = ()
    modules: tuple[Binding, ...] = ()
    torch: str = ""
    signal: str = ""
    trouble: tuple[str, ...] = ()
    visits: tuple[Visit, ...] = ()
    computed: tuple[Computed, ...] = ()
    handled: Failure | None = None

    @property
    def copies(self) -> int:
        """How many copies between host and devices the program made."""
        return sum(transfer.count for transfer in self.transfers)


@dataclass(frozen=True)
class Target:
    """What is to be repaired: a commit of a repository, and how its program is run."""

    root: Path
    commit: str
    command: tuple[str, ...]
    python: Path
    world: World
    timeout: float
    subfolder: str = ""
    exclude: tuple[str, ...] = ()


@dataclass(frozen=True)
class Blame:
    """What a rule says of a failure: which operand is wrong (its index), and why, in one sentence.

    `strength` is the kind of evidence, 1 (a birth without a device in owned code) to 9 (a guess); `device` is where the
    operand should be, "" for where its peer is.
    """

    operand: int
    because: str
    strength: int = 5
    device: str = ""


@dataclass(frozen=True)
class Diagnosis:
    """A rule's blame, with the failure it speaks of."""

    rule: str
    title: str
    failure: Failure
    blame: Blame


@dataclass(frozen=True)
class Edit:
    """New contents of one file; `path` is relative to the repository, `line` the first line that changes."""

    path: str
    line: int
    before: bytes
    after: bytes


@dataclass(frozen=True)
class Patch:
    """A candidate: edits that belong together, why, and how safe they are ("safe", "likely", "unsure")."""

    rule: str
    title: str
    because: str
    safety: str
    edits: tuple[Edit, ...]
    rank: tuple[int, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """What running a patch showed.

    `outcome` is "holds", "moved" (another failure came instead), "same" (the same failure), "worse" (a world that ran
    before fails now), "differs" (the CPU output changed), or "broken". `worlds` maps world names to outcomes, and
    `before` to those without the patch, where they are known; `transfers` is the number of copies between host and
    devices before and after.
    """

    outcome: str
    worlds: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    transfers_before: int = 0
    transfers_after: int = 0
    because: str = ""
    next_failure: Failure | None = None
    before: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True)
class Fix:
    """A patch that was tried, and its verdict; `neighbours` are edits for the same fault elsewhere, not applied."""

    patch: Patch
    verdict: Verdict
    diff: str
    neighbours: tuple[Edit, ...] = ()


@dataclass(frozen=True)
class Guard:
    """A test that fails without a fix and passes with it: a new file of the repository.

    `drives` says in words what it runs. `worlds` maps world names to what the test did before the fix and after it;
    `since` is the index, among the fixes, of the one with which it passes: its own, or a later one of the chain.
    """

    path: str
    text: str
    drives: str
    worlds: Mapping[str, tuple[str, str]] = field(default_factory=lambda: MappingProxyType({}))
    since: int = 0


@dataclass(frozen=True)
class Repair:
    """One failure, what was tried against it, and the fix that was kept (None when none held).

    `guard` is the test that guards the fix; where there is none, `unguarded` says why, or what guards it already.
    """

    failure: Failure
    diagnoses: tuple[Diagnosis, ...]
    fix: Fix | None
    dropped: tuple[Fix, ...] = ()
    guard: Guard | None = None
    unguarded: str = ""


@dataclass(frozen=True)
class Foreign:
    """A fault in code that is not the user's: whose it is, where, why, and the change that made a copy of it run.

    `path` is relative to the folder of installed packages. `pin` is the newest release that runs clean ("" where none
    was looked for or found), `pin_edits` what asks for it in the repository's requirements; neither is applied.
    """

    distribution: str
    version: str
    path: str
    line: int
    because: str
    diff: str
    pin: str = ""
    pin_edits: tuple[Edit, ...] = ()


@dataclass(frozen=True)
class Report:
    """The result of `devfix repair`; `outcome` is repaired, clean, unrepaired, not-yours or error.

    `subfolder` is the folder of the repository in which the command ran, "" for its top.
    """

    outcome: str
    world: World
    command: str
    root: str
    commit: str
    repairs: tuple[Repair, ...] = ()
    branch: str = ""
    commits: tuple[str, ...] = ()
    diff: str = ""
    seconds: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    notes: tuple[str, ...] = ()
    last_run: Run | None = None
    foreign: Foreign | None = None
    subfolder: str = ""
