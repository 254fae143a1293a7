"""What a repair needs at hand: the repository, its worktrees, the program, and everything learnt so far."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

from devfix.config import Config
from devfix.model import Run, Target, World
from devfix.sdk import Sources
from devfix.stages.observe import Observer
from devfix.warm import Warm
from devfix.workspace import Repository, Worktrees


@dataclass
class Session:
    """One repair in progress; `files` holds the contents of every file changed so far."""

    repository: Repository
    config: Config
    worktrees: Worktrees
    observer: Observer
    progress: Callable[[str], None]
    files: dict[str, bytes] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def target(self) -> Target:
        """The program under repair."""
        return self.observer.target

    def run(self, world: World, files: Mapping[str, bytes], fresh: bool) -> Run:
        """Run the program with `files` changed: what `verify` is handed."""
        return self.observer.run(world, files, fresh=fresh)

    def sources(self) -> Sources:
        """The editable files as they stand now."""
        return Sources(self._read)

    def _read(self, path: str) -> bytes | None:
        if path not in self.observer.tracked or any(fnmatch(path, glob) for glob in self.target.exclude):
            return None
        return self.files[path] if path in self.files else self.repository.content(path)

    def before(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        """The present contents of the named files."""
        return {path: self.files.get(path, b"") or self.repository.content(path) for path in files}

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        """Add the wall time of a step, in seconds, to `seconds`."""
        began = time.monotonic()
        try:
            yield
        finally:
            self.seconds[step] = round(self.seconds.get(step, 0.0) + time.monotonic() - began, 3)


def worlds_for(home: World, python_sees: int) -> list[World]:
    """Every world in which a fix must be no worse: none, one, two GPUs, and two of which the second is current.

    Real GPUs are used as far as there are any; worlds with more are simulated.
    """

    def gpus(count: int, current: int = 0) -> World:
        kind = "real" if home.kind == "real" and count <= python_sees else "simulated"
        return World(kind, count, current)

    others = [World("cpu"), gpus(1), gpus(2), gpus(2, 1)]
    return [home, *(world for world in others if (world.gpus, world.current) != (home.gpus, home.current))]


def real_gpus() -> bool:
    """Whether the machine may have an NVIDIA or AMD GPU at all: a look that costs nothing, before asking torch."""
    return any(os.path.exists(path) for path in ("/dev/nvidiactl", "/dev/dxg", "/dev/kfd"))


def is_plain_script(command: Sequence[str], python: Path) -> bool:
    """Whether a command is `python script.py …`, which a warm process can run."""
    return len(command) > 1 and command[0] == str(python) and command[1].endswith(".py")


def warm_for(target_python: Path, environment: Mapping[str, str]) -> Warm:
    """A warm process for the target's interpreter."""
    return Warm(target_python, environment)
