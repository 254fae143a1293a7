"""The process in which sessions of tests run: a prefork server that has imported pytest and its plugins as well."""

from __future__ import annotations

from copy import copy
from pathlib import Path
from threading import Lock

from devfix.execution.prefork import PreforkServer
from devfix.execution.pytest_plugin import HELD, MARKED, import_folder
from devfix.execution.pytest_runner import LAUNCHER, launcher, preparation
from devfix.execution.runner import TracedRunner
from devfix.execution.slots import Speculation
from devfix.model import Run, World
from devfix.process import child_environment

TIMEOUT = 60.0  # seconds for a run of one test
# The world, the changed files, the tests (paths from the root of the repository, or pytest ids), and whether a test's
# own marker must not change the world.
TestOrder = tuple[World, tuple[tuple[str, bytes], ...], tuple[str, ...], bool]


class TestServer:
    """Runs tests in the target's interpreter, warm where that is possible; `close` ends its processes."""

    __test__ = False

    def __init__(self, observer: TracedRunner, scratch: Path) -> None:
        self._program, self._scratch = observer, scratch
        self._own: PreforkServer | None = None
        self._branch: PreforkServer | None = None
        self._lock, self._is_closed = Lock(), False

    @property
    def overlay(self) -> Path:
        """The folder from which tests import devfix."""
        return import_folder(self._scratch)

    def observer(self) -> TracedRunner:
        """Return what runs tests, in a warm process if possible; the first call starts it, in the background."""
        observer = copy(self._program)
        observer.warm, observer.children = self.warm(), self._program.warm
        return observer

    def warm(self) -> PreforkServer | None:
        """Return the process that has imported pytest, where there may be one; the first call starts it."""
        if self._program.sandboxed is not None or self._program.read_only:
            return self._program.warm
        return self._prepare(self._program)

    def close(self) -> None:
        """End the processes, also those that another thread is starting."""
        self._is_closed = True
        if self._own is not None:
            self._own.close()  # whoever waits for it does not any more
        with self._lock:
            for server in (self._branch, self._own):
                if server is not None:
                    server.close()

    def run(self, order: TestOrder, ahead: Speculation | None = None) -> Run:
        """Run tests with plain pytest."""
        world, files, words, held = order
        target = self._program.target
        below = target.subfolder
        launched = f"{below}/{LAUNCHER}" if below else LAUNCHER
        inner = [word.removeprefix(f"{below}/") if below else word for word in words]
        observer = self.observer().running(LAUNCHER, *inner, timeout=TIMEOUT)
        everything = {**dict(files), launched: launcher()}
        tests = HELD if held else MARKED
        return observer.run(world, everything, fresh=False, overlay=self.overlay, tests=tests, ahead=ahead)

    def _prepare(self, observer: TracedRunner) -> PreforkServer | None:
        with self._lock:
            warm = observer.warm or self._own
            if self._is_closed:
                return warm
            if warm is None:
                environment = {**child_environment(), "TMPDIR": str(observer.scratch or self._scratch)}
                limits = observer.limits.times(2)
                warm = self._own = PreforkServer(observer.target.python, environment, limits=limits)
            if self._branch is None:
                given = {"folder": str(self.overlay), "root": str(observer.target.root)}
                self._branch = warm.branch(preparation(), given)
            return self._branch
