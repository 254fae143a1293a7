"""The bench on which rules are tested: programs run by the real probe, from a prefork server, in simulated worlds."""

from __future__ import annotations

import os
import tempfile
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType

from devfix.errors import UserError
from devfix.execution import TracedRunner
from devfix.execution.prefork import PreforkServer
from devfix.model import Failure, Outcome, Run, Target, World
from devfix.process import child_environment
from devfix.registry import Rule
from devfix.rule_testing.checking.check import check, second_look
from devfix.rule_testing.checking.folders import Folders
from devfix.rule_testing.checking.format import format_ending
from devfix.rule_testing.checking.preview import Preview
from devfix.rule_testing.checking.proposal import claimed_by, proposal_for
from devfix.rule_testing.checking.results import Problem, Result
from devfix.rule_testing.pages.case import Case
from devfix.rule_testing.recording.case_runner import CaseRunner
from devfix.rule_testing.recording.fingerprint import installed_packages
from devfix.rule_testing.recording.runs import RecordedRuns
from devfix.rule_testing.recording.shared_replays import NotRecorded, SharedReplays, are_worth_sharing

# In place of the case of a result that another process returns: the case is here, and its options cannot be pickled.
_NO_CASE = Case("", 0, World("cpu"), {}, {}, {}, None, None, ())
TIMEOUT = 60.0  # seconds for one run of a case's program, which should take a tenth of that
JOBS = 2


def check_torch(python: Path) -> None:
    """Raise UserError if an interpreter has no torch that the bench can use."""
    installed_packages(python)


class Bench:
    """Runs cases with one interpreter, which needs torch; closing it removes everything it started and wrote.

    Runs that are in `recorded` are not made again; `count` has how many were "made" and how many "replayed".
    """

    def __init__(
        self, python: Path, timeout: float = TIMEOUT, jobs: int = JOBS, recorded: RecordedRuns | None = None
    ) -> None:
        self.python, self.timeout, self.recorded = python, timeout, recorded
        self._folder = tempfile.TemporaryDirectory(prefix=f"devfix-cases-{os.getpid()}-")
        self._pool = ThreadPoolExecutor(jobs)
        self._lock = threading.Lock()
        self._made: set[int] = set()  # the cases, by identity, of which a run was made
        self._server: PreforkServer | None = None
        self.count: Counter[str] = recorded.count if recorded is not None else Counter()
        self._shared: list[SharedReplays[tuple[int, tuple[Rule, Case]], tuple[Result, int]]] = []
        if recorded is None:
            self.warm_up()

    def warm_up(self) -> PreforkServer:
        """Start the process from which runs are forked, in the background; return it."""
        with self._lock:
            if self._server is None:
                self._server = PreforkServer(self.python, child_environment())
            return self._server

    def check(self, rule: Rule, case: Case) -> Result:
        """Run a case of a rule's page; an error of devfix is reported as the case's."""
        try:
            return check(rule, case, self._observer(case))
        except (OSError, UserError) as error:
            return Result(rule.id, case, (Problem("cannot be run", str(error)),))

    def failure(self, case: Case) -> Failure | None:
        """Return the failure of a case's program, with all that a rule may query; None if there is none."""
        return self.failing(case)[0]

    def failing(self, case: Case) -> tuple[Failure | None, Run]:
        """Return the same with the run of the program."""
        observer = self._observer(case)
        run = observer.run(case.world)
        if run.outcome is not Outcome.FAILED or run.failure is None:
            return None, run
        return replace(second_look(case, observer, run.failure), claimed=claimed_by(case)), run

    def preview(self, rule: Rule, case: Case) -> Preview:
        """Return what a rule proposes for a case; its changes are not run."""
        failure, run = self.failing(case)
        if failure is None:
            return Preview(case, None, format_ending(run).splitlines()[0])
        return Preview(case, proposal_for(rule, case, failure))

    def _observer(self, case: Case) -> CaseRunner:
        return CaseRunner(case, partial(self._runner, case), self.recorded)

    def makes_runs(self, case: Case) -> bool:
        """Return whether a run of a case that was submitted had to be made, since it is not recorded."""
        return id(case) in self._made

    def _runner(self, case: Case) -> TracedRunner:
        self._made.add(id(case))
        root = Path(self._folder.name)
        target = Target(
            root=root,
            commit="",
            command=(str(self.python), case.program),
            python=self.python,
            world=case.world,
            timeout=self.timeout,
        )
        folders = Folders(root, {**case.before, **case.foreign})
        return TracedRunner(target, folders, frozenset(case.before), self.warm_up())

    def submit(self, rule: Rule, case: Case) -> Future[Result]:
        """Run a case as soon as one of the jobs is free."""
        return self._pool.submit(self.check, rule, case)

    def submit_all(self, cases: Sequence[tuple[Rule, Case]]) -> list[Future[Result]]:
        """Run cases concurrently; many are first replayed in several processes, as far as their runs are recorded."""
        if self.recorded is None or not are_worth_sharing(len(cases)):
            return [self.submit(*pair) for pair in cases]
        results: list[Future[Result]] = [Future() for _ in cases]
        replays = SharedReplays(self._replay, list(enumerate(cases)), partial(self._settle, results))
        self._shared.append(replays)
        return results

    def _replay(self, numbered: tuple[int, tuple[Rule, Case]]) -> tuple[Result, int]:
        """Check a case from recorded runs alone; return the result and the number of runs that were replayed."""
        assert self.recorded is not None
        _, (rule, case) = numbered
        before = self.count["replayed"]
        result = check(rule, case, CaseRunner(case, _not_recorded, self.recorded))
        return replace(result, case=_NO_CASE), self.count["replayed"] - before

    def _settle(
        self,
        results: Sequence[Future[Result]],
        numbered: tuple[int, tuple[Rule, Case]],
        replayed: tuple[Result, int] | None,
    ) -> None:
        """Set the result of a case that was replayed; run another one."""
        number, (rule, case) = numbered
        if replayed is not None:
            result, count = replayed
            self.count["replayed"] += count
            results[number].set_result(replace(result, case=case))
            return
        try:
            self.submit(rule, case).add_done_callback(partial(_copy, results[number]))
        except RuntimeError:  # the bench is being closed
            results[number].cancel()

    def check_all(self, cases: Iterable[tuple[Rule, Case]]) -> Iterator[Result]:
        """Run cases concurrently, and yield their results in the given order."""
        for pending in self.submit_all(list(cases)):
            yield pending.result()

    def close(self) -> None:
        """Cancel what has not started, end the prefork server and remove the folders."""
        for replays in self._shared:
            replays.close()
        self._pool.shutdown(wait=True, cancel_futures=True)
        if self._server is not None:
            self._server.close()
        if self.recorded is not None:
            self.recorded.store.trim()
        self._folder.cleanup()

    def __enter__(self) -> Bench:
        """Return the bench itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the bench."""
        self.close()


def _not_recorded() -> TracedRunner:
    """Refuse to make a run, in a process that replays."""
    raise NotRecorded


def _copy(result: Future[Result], done: Future[Result]) -> None:
    """Set a result to that of another future."""
    if done.cancelled():
        result.cancel()
    elif (error := done.exception()) is not None:
        result.set_exception(error)
    else:
        result.set_result(done.result())
