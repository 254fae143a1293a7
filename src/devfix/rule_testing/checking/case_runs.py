"""The runs by which a case's changes are verified."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from devfix.model import NO_COUNTS, CountRequest, Outcome, Run, World
from devfix.rule_testing.pages.case import Case
from devfix.rule_testing.recording.case_runner import CaseRunner
from devfix.verification.checks.stdout import SEEDS


class CaseRuns:
    """Runs of a case's program, each made once."""

    def __init__(self, case: Case, observer: CaseRunner) -> None:
        self._case, self._observer = case, observer
        self._done: dict[tuple[World, tuple[bytes, ...], CountRequest, bool], Run] = {}

    def once(
        self,
        world: World,
        files: Mapping[str, bytes],
        fresh: bool = False,
        reach: CountRequest = NO_COUNTS,
        seed: int | None = None,
    ) -> Run:
        """Run the program with these files."""
        # A verdict requests a second run in the first world, to exclude chance; a case always fails. Runs with a
        # seed are compared with one another, to see what repeats, so each of them is run.
        if seed is not None:
            return self._observer.run(world, files, reach=reach, seed=seed)
        key = (world, tuple(files[name] for name in sorted(files)), reach, fresh and files == self._case.before)
        if key not in self._done:
            self._done[key] = self._observer.run(world, files, reach=reach)
        return self._done[key]

    def baseline(self, world: World) -> Run:
        """Run the program as it is."""
        return self.once(world, self._case.before, True)

    def remarks(self) -> Iterator[str]:
        """Yield a remark if the program prints something else in each run, for want of a seed."""
        clean = [run for run in self._done.values() if run.outcome is Outcome.CLEAN and run.unseeded]
        printed = {run.world: {other.stdout for other in clean if other.world == run.world} for run in clean}
        if any(len(texts) > 1 for texts in printed.values()):
            seeds = "; ".join(SEEDS[name] for name in sorted({name for run in clean for name in run.unseeded}))
            yield f"the program prints other numbers in each run, since it is not seeded: add {seeds}"
