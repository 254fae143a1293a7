"""The world of a test process: entered once, changed for a test that asks for another, and left at the end."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from devfix.pytest_gpus.probe_bridge import Entrance

if TYPE_CHECKING:
    from devfix.discovery import Interpreter

Kind = Literal["auto", "real", "simulated", "mps", "xpu", "cpu"]
KINDS: tuple[Kind, ...] = ("auto", "real", "simulated", "mps", "xpu")
_DEVICES = ("mps", "xpu")  # worlds named by another kind of device than CUDA
_DRIVERS = ("/dev/nvidiactl", "/dev/dxg", "/dev/kfd")


class TooFew(Exception):
    """Real GPUs were asked for, and the machine has fewer; or several where such a machine has one."""


@dataclass(frozen=True)
class Wanted:
    """A world that somebody asks for: `kind` is one of KINDS, or "cpu" for a world that has no GPUs at all.

    `device` is the kind of GPUs, "cuda", "mps" or "xpu".
    """

    kind: Kind
    gpus: int
    current: int = 0
    lift: bool = False
    device: str = "cuda"

    @property
    def data(self) -> dict[str, str | int]:
        """The world as reports and the probe have it."""
        return {"kind": self.kind, "gpus": self.gpus, "current": self.current, "device": self.device}

    @property
    def lifted_to(self) -> int:
        """The GPU on which a lifted run puts what tests make: another than the current one, where there is one."""
        return 0 if self.current else max(self.gpus - 1, 0)


class SuiteWorld:
    """The world of this process; `root` is the folder whose files are the suite's own.

    `session` is the world in which all tests run that ask for none themselves, None where that is the plain process.
    `lift` says which files are test code, for a lifted run.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.lift: dict[str, Any] = {}
        self.session: Wanted | None = None
        self.traces = Path()
        self._entrance = Entrance()
        self._now: Wanted | None = None
        self._interpreter: Interpreter | None = None
        self._order: dict[str, Any] = {}
        if not self._entrance.own:  # a worker or a child of one, or a suite under repair: it is in a world already
            told = self._order = json.loads(os.environ["DEVFIX_PROBE"])
            world = told.get("world") or {}
            self.session = self._now = Wanted(
                world.get("kind", "cpu"),
                world.get("gpus", 0),
                world.get("current", 0),
                device=world.get("device", "cuda"),
            )
            self.traces = Path(told.get("traces") or "")

    @property
    def now(self) -> Wanted | None:
        """The world that the process is in."""
        return self._now

    @property
    def is_judged(self) -> bool:
        """True if devfix itself runs a test that it has written: it asks for no diagnosis."""
        return bool(self._order.get("tests"))

    def begin(self, wanted: Wanted) -> None:
        """Enter the world of the whole session, unless the process was started in one; TooFew where it cannot be.

        In a world that has GPUs already, the tests are lifted where they shall be.
        """
        if self._entrance.own:
            self.session = self._settle(wanted)
            self.change(None)
        elif wanted.lift and self.session is not None and self.session.gpus:
            self.session = self._now = replace(self.session, lift=True)
            self._enter(self.session)

    def change(self, wanted: Wanted | None) -> bool:
        """Enter the world that a test asks for, the session's where it asks for none; say whether it is another."""
        if self._order.get("tests") == "held":
            return False
        target = self.session if wanted is None else self._settle(wanted)
        if target == self._now:
            return False
        self._now = target
        if target is None:
            self._entrance.withdraw()
            return True
        if self._entrance.own and not self.traces.name:
            self.traces = Path(tempfile.mkdtemp(prefix=f"devfix-suite-{os.getpid()}-"))
        self._enter(target)
        return True

    def _enter(self, target: Wanted) -> None:
        if target.kind not in ("real", "cpu"):
            from devfix.process.native import compile_for  # most sessions start no programs

            compile_for(sys.executable, os.environ.copy)  # for the next session; this one has begun
        lift = {**self.lift, "device": target.lifted_to} if target.lift else None
        self._entrance.order(target.data, str(self.traces), self.root, lift)

    def end(self) -> None:
        """Leave the world and remove what was written."""
        if self._entrance.own:
            if self._now is not None:
                self._now = None
                self._entrance.withdraw()
            if self.traces.name:
                shutil.rmtree(self.traces, ignore_errors=True)

    def _settle(self, wanted: Wanted) -> Wanted:
        return settle(wanted, self.session, self._examine)

    def _examine(self) -> Interpreter:
        if self._interpreter is None:
            from devfix.discovery import examine

            self._interpreter = examine(Path(sys.executable), self.root)
        return self._interpreter


def settle(wanted: Wanted, session: Wanted | None, seen: Callable[[], Interpreter]) -> Wanted:
    """Return which world is entered for one that is asked for, in a session's; TooFew where none can be.

    `seen` examines the interpreter of the tests, which is only asked where there can be real GPUs.
    """
    if wanted.kind in _DEVICES:
        wanted = replace(wanted, kind="simulated", device=wanted.kind)
    elif wanted.kind == "auto" and session is not None and session.gpus:
        wanted = replace(wanted, kind="simulated" if session.kind == "simulated" else "auto", device=session.device)
    elif wanted.kind == "real":
        wanted = replace(wanted, device=seen().device.value)
    if wanted.device == "mps" and wanted.gpus > 1:
        raise TooFew(f"{wanted.gpus} GPUs were asked for, and a machine with mps has one")
    if not wanted.gpus:
        return replace(wanted, kind="cpu")
    if wanted.kind == "simulated":
        return wanted
    if wanted.kind == "auto" and wanted.device == "cuda" and not any(map(os.path.exists, _DRIVERS)):
        return replace(wanted, kind="simulated")
    enough = seen().device.value == wanted.device and seen().gpus >= wanted.gpus
    if wanted.kind == "real" and not enough:
        raise TooFew(f"{wanted.gpus} real GPUs were asked for, and this machine has {seen().gpus}")
    return replace(wanted, kind="real" if enough else "simulated")
