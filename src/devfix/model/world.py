"""The world that a program sees, and locations in its source."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

WorldKind = Literal["cpu", "real", "simulated"]
MOST = 64  # GPUs of a machine


class DeviceType(str, Enum):
    """The kind of accelerator that a world has, by the name that PyTorch gives its devices."""

    CUDA = "cuda"
    MPS = "mps"
    XPU = "xpu"

    @property
    def most(self) -> int:
        """The largest number of them that a machine can have."""
        return 1 if self is DeviceType.MPS else MOST


def is_on_gpu(device: str) -> bool:
    """Return whether a device is an accelerator: "cuda:1", "mps:0", but not "cpu", "mixed" or ""."""
    return device.partition(":")[0] in {each.value for each in DeviceType}


class WorldChoice(str, Enum):
    """The selected world; "auto" uses real GPUs of CUDA if there are any, otherwise simulated ones.

    "real" are those that the interpreter sees, of whatever kind; "mps" and "xpu" are machines with another accelerator
    than CUDA's, simulated.
    """

    AUTO = "auto"
    REAL = "real"
    SIMULATED = "simulated"
    CPU = "cpu"
    MPS = "mps"
    XPU = "xpu"

    @property
    def device(self) -> DeviceType:
        """The kind of accelerator that the choice names; CUDA, where it names none."""
        return DeviceType(self.value) if self in (WorldChoice.MPS, WorldChoice.XPU) else DeviceType.CUDA


@dataclass(frozen=True)
class World:
    """The device configuration that a program sees: no GPU, real GPUs, or simulated ones.

    `kind` is "cpu", "real" or "simulated"; `current` is the index of the current device when the program starts, and
    `device` the kind of the GPUs.
    """

    kind: WorldKind
    gpus: int = 0
    current: int = 0
    device: DeviceType = DeviceType.CUDA

    @property
    def name(self) -> str:
        """The name of this world in verdicts: "cpu", "cuda x1", "cuda x2, current 1", "mps"."""
        if self.kind == "cpu":
            return "cpu"
        if self.device is DeviceType.MPS:
            return "mps"
        return f"{self.device.value} x{self.gpus}" + (f", current {self.current}" if self.current else "")


@dataclass(frozen=True)
class GpusNeeded:
    """A program asked for more GPUs than it was `given`: how many it needs, and the evidence.

    `met`: it was then run with as many. Otherwise the number was set by the user, or too many are needed.
    """

    given: int
    needed: int
    reason: str
    met: bool


@dataclass(frozen=True)
class SourceLocation:
    """An expression in a source file; the columns are None where the interpreter does not know them (Python 3.10).

    `loop` is true of a `for`, or a comprehension, that asked for its next item there: the place is all that runs then.
    In a notebook the line is that of its script (`devfix.notebooks`), `cell` the number of the cell, and `cell_start`
    the line above its first one.
    """

    path: str
    line: int
    function: str = ""
    end_line: int | None = None
    column: int | None = None
    end_column: int | None = None
    owned: bool = False
    loop: bool = False
    cell: int = field(default=0, compare=False)
    cell_start: int = field(default=0, compare=False)

    @property
    def name(self) -> str:
        """The path for messages: "train.py", or "ch02.ipynb[cell 7]"."""
        return f"{self.path}[cell {self.cell}]" if self.cell else self.path

    @property
    def shown(self) -> str:
        """The path and the line for messages: "train.py:31", or "ch02.ipynb[cell 7]:3"."""
        return f"{self.name}:{self.line - self.cell_start}"
