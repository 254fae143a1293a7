"""Runs of regression tests that begin while a patch is still verified, and are used if it becomes the fix."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from threading import Event, Thread

from devfix.execution.slots import CancelledError, Slots
from devfix.execution.speculative_runs import SpeculativeRuns
from devfix.execution.test_server import TestOrder, TestServer
from devfix.model import Edit, Run, World

# Arguments: world, changed files, pytest arguments, and whether the test's own marker must not change the world.
TestRunner = Callable[[World, Mapping[str, bytes], Sequence[str], bool], Run]
Rehearsal = Callable[[TestRunner], object]
Edits = tuple[Edit, ...]


class SpeculativeTests:
    """Runs tests; `begin` has those of one patch at a time begin ahead."""

    __test__ = False

    def __init__(self, server: TestServer, slots: Slots) -> None:
        self._runs = SpeculativeRuns(server.run, slots)
        self._edits: Edits | None = None
        self._ended = Event()

    def begin(self, edits: Edits, rehearsal: Rehearsal) -> None:
        """Begin a rehearsal of the search for the test of a patch, in the background; one of another patch ends."""
        if edits == self._edits:
            return
        self.end(())
        self._edits, self._ended = edits, Event()
        Thread(target=self._rehearse, args=(rehearsal, self._ended), daemon=True).start()

    def end(self, kept: Sequence[Edits]) -> None:
        """Begin no more runs; those of a patch that is not among the kept ones are cancelled."""
        self._ended.set()
        if self._edits not in kept:
            self._runs.expect(())
        self._edits = None

    def run(self, world: World, files: Mapping[str, bytes], words: Sequence[str], held: bool) -> Run:
        """Run tests, or take their run that has begun ahead."""
        return self._runs.run(_order(world, files, words, held))

    def close(self) -> None:
        """Cancel what nobody has asked for."""
        self._ended.set()
        self._runs.close()

    def _rehearse(self, rehearsal: Rehearsal, ended: Event) -> None:
        def run(world: World, files: Mapping[str, bytes], words: Sequence[str], held: bool) -> Run:
            if ended.is_set():
                raise CancelledError
            return self._runs.begin(_order(world, files, words, held)).result()

        with suppress(Exception):  # whoever asks for a run raises its error
            rehearsal(run)


def _order(world: World, files: Mapping[str, bytes], words: Sequence[str], held: bool) -> TestOrder:
    return world, tuple(sorted(files.items())), tuple(words), held
