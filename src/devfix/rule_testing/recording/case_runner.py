"""Run the program of a case, or replay what an earlier run of it did."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from devfix.execution import TracedRunner
from devfix.model import NO_COUNTS, CountRequest, Run, SourceLocation, World
from devfix.rule_testing.pages.case import Case
from devfix.rule_testing.recording.runs import RecordedRuns


class CaseRunner:
    """Runs the program of one case, with some of its files changed, if no such run is recorded."""

    def __init__(self, case: Case, runner: Callable[[], TracedRunner], recorded: RecordedRuns | None = None) -> None:
        """Run by what `runner` returns, which is called for the first run that is not recorded."""
        self.case, self._make, self._recorded = case, runner, recorded
        self._asked: Counter[str] = Counter()
        self._lock = threading.Lock()

    @cached_property
    def _runner(self) -> TracedRunner:
        return self._make()

    def run(
        self,
        world: World,
        files: Mapping[str, bytes] | None = None,
        *,
        watch: Sequence[SourceLocation] = (),
        reach: CountRequest = NO_COUNTS,
        seed: int | None = None,
    ) -> Run:
        """Run the program in a world; the arguments are those of `TracedRunner.run`.

        What is asked twice is run twice, and recorded so: the second run shows whether the first one repeats. Runs with
        a seed are compared with one another for that, and are neither recorded nor replayed.
        """
        if self._recorded is None or seed is not None:
            return self._runner.run(world, files, watch=watch, fresh=False, reach=reach, seed=seed)
        key = self._numbered_key(self._recorded.key(self.case, world, files or {}, watch, reach))
        run = self._recorded.get(key)
        if run is None:
            run = self._runner.run(world, files, watch=watch, fresh=False, reach=reach)
            self._recorded.put(key, run)
        return run

    def _numbered_key(self, key: str) -> str:
        """Return another key for each time that one is asked for."""
        with self._lock:
            number = self._asked[key]
            self._asked[key] += 1
        return hashlib.blake2b(f"{key} {number}".encode(), digest_size=20).hexdigest() if number else key
