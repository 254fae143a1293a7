"""The state that a test or fixture leaves behind: changes of a test are undone, those of longer-lived fixtures stay."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from devfix.pytest_gpus.probe_bridge import probe
from devfix.pytest_gpus.world import SuiteWorld

_AS_NEW: dict[str, Any] = {"device": None}


class StateIsolation:
    """Knows what the state of the world has to be between two tests."""

    def __init__(self, world: SuiteWorld) -> None:
        self._world = world
        self._told: dict[str, Any] | None = None
        self._undo: dict[int, dict[str, Any]] = {}

    def begin_test(self, entered: bool) -> None:
        """Note the state before a test; of a world that was entered for it, only what the whole process has."""
        here = self._probe()
        if here is None:
            return
        here.begin_test()
        if self._told is None:
            self._told = here.state()
        elif entered:
            whole = {part: value for part, value in self._told.items() if part in ("dtype", "device")}
            self._told = {**here.state(), **whole}

    def end_test(self) -> None:
        """Make the world as new."""
        here, now = self._probe(), self._world.now
        if here is None or now is None:
            return
        if self._told is None:  # torch was imported by the test itself
            self._told = {**_AS_NEW, "dtype": sys.modules["torch"].float32}
        here.restore(self._told, now.current)

    @contextmanager
    def setting_up(self, fixture: object) -> Iterator[None]:
        """Keep what a fixture of a class, a module or the session sets, for as long as the fixture lives."""
        here = self._probe()
        before = here.state() if here is not None else {}
        yield
        if here is not None and self._told is not None:
            after = here.state()
            self._undo[id(fixture)] = undo = here.changed_parts(before, after)
            self._told.update((part, after[part]) for part in undo)

    def torn_down(self, fixture: object) -> None:
        """Forget what a fixture has set."""
        undo = self._undo.pop(id(fixture), None)
        if undo and self._told is not None:
            self._told.update(undo)

    def _probe(self) -> Any:
        return probe("session.state_snapshot") if self._world.now is not None else None
