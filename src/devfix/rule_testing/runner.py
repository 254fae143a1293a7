"""The bench on which rules are tested: programs run by the real probe, from a prefork server, in simulated worlds."""

from __future__ import annotations

import os
import tempfile
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import TracebackType

from devfix.errors import UserError
from devfix.execution import TracedRunner
from devfix.execution.prefork import PreforkServer
from devfix.model import Failure, Outcome, Run, Target
from devfix.process import child_environment
from devfix.registry import Rule
from devfix.rule_testing.case import Case
from devfix.rule_testing.check import check, second_look
from devfix.rule_testing.folders import Folders
from devfix.rule_testing.format import format_ending
from devfix.rule_testing.preview import Preview
from devfix.rule_testing.proposal import proposal_for
from devfix.rule_testing.recording.case_runner import CaseRunner
from devfix.rule_testing.recording.fingerprint import installed
from devfix.rule_testing.recording.runs import RecordedRuns
from devfix.rule_testing.results import Result, Trouble

TIMEOUT = 60.0  # seconds for one run of a case's program, which should take a tenth of that
JOBS = 2


def check_torch(python: Path) -> None:
    """Raise UserError if an interpreter has no torch that the bench can use."""
    installed(python)


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
        self._server: PreforkServer | None = None
        self.count: Counter[str] = recorded.count if recorded is not None else Counter()
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
            return Result(rule.id, case, (Trouble("cannot be run", str(error)),))

    def failure(self, case: Case) -> Failure | None:
        """Return the failure of a case's program, with all that a rule may query; None if there is none."""
        return self.failing(case)[0]

    def failing(self, case: Case) -> tuple[Failure | None, Run]:
        """Return the same with the run of the program."""
        observer = self._observer(case)
        run = observer.run(case.world)
        if run.outcome is not Outcome.FAILED or run.failure is None:
            return None, run
        return second_look(case, observer, run.failure), run

    def preview(self, rule: Rule, case: Case) -> Preview:
        """Return what a rule proposes for a case; its changes are not run."""
        failure, run = self.failing(case)
        if failure is None:
            return Preview(case, None, format_ending(run).splitlines()[0])
        return Preview(case, proposal_for(rule, case, failure))

    def _observer(self, case: Case) -> CaseRunner:
        return CaseRunner(case, partial(self._runner, case), self.recorded)

    def _runner(self, case: Case) -> TracedRunner:
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

    def check_all(self, cases: Iterable[tuple[Rule, Case]]) -> Iterator[Result]:
        """Run cases concurrently, and yield their results in the given order."""
        for pending in [self.submit(*pair) for pair in cases]:
            yield pending.result()

    def close(self) -> None:
        """Cancel what has not started, end the prefork server and remove the folders."""
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
