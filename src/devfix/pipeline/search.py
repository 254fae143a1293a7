"""The loop: one failure after another, each with the fix that was kept; back where a fix leads nowhere."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from devfix.model import Fix, Others, Outcome, Repair, Run, World
from devfix.pipeline.attempt import Attempt, AttemptBuilder
from devfix.pipeline.first_failure import first_run
from devfix.pipeline.more_gpus import run_with_enough_gpus
from devfix.pipeline.session import Session
from devfix.registry import Rule
from devfix.verification.candidate import CandidateResult
from devfix.verification.rebase import rebase

CPU = World("cpu")
WITHOUT_GPU = ("no-device", "deserialize", "invalid-ordinal")
DETOURS = 3  # other fixes tried in one repair, where those that were kept led to a failure that nothing mends
AGAIN = 6  # later fixes tried in one repair in the place of an earlier one


class Search:
    """Repairs one failure after another; `repairs` tells of each."""

    def __init__(self, session: Session, limit: int, rules: Sequence[Rule]) -> None:
        self.session, self.limit, self.rules = session, limit, rules
        self.repairs: list[Repair] = []
        self.is_stuck = False
        self._detours, self._again = DETOURS, AGAIN
        self._steps = AttemptBuilder(session, rules, self._baseline)
        self._baselines: dict[World, Future[Run]] = {}

    @property
    def others(self) -> Others | None:
        """What the other commands that reach the fixes did; where nothing was fixed, those that reach candidates."""
        return self._steps.others.told([fix.patch for fix in self.fixes])

    @property
    def fixes(self) -> list[Fix]:
        """The fixes that were kept, in order."""
        return [each.fix for each in self.repairs if each.fix]

    def repair(self) -> Run:
        """Repair until nothing fails or nothing helps; returns the last run in the failing world."""
        with ThreadPoolExecutor(2) as pool:
            self._pool = pool
            if len(self.session.commands) == 1:  # else it is not known yet which of them is repaired
                self._baseline_soon(CPU)
            with self.session.timed("observe"):
                run = first_run(self.session)
            final = self._repair_from(run)
            if final.outcome is Outcome.CLEAN and final.world != CPU and not self.fixes and CPU in self._baselines:
                self._note_failure_without_gpu(self._baseline(CPU))
            return final

    def _note_failure_without_gpu(self, run: Run) -> None:
        """Say of a program that runs on GPUs that it does not without one: to mend that is for who asks for it."""
        failure = run.failure
        if run.outcome is Outcome.FAILED and failure is not None and failure.kind in WITHOUT_GPU and failure.at:
            told = failure.message.split("\n")[0][:120]
            where = f"{failure.at.path}:{failure.at.line}"
            self.session.notes.append(f"without a GPU the program fails at {where}, {told}; to mend that: --world cpu")

    def _repair_from(self, run: Run) -> Run:
        """Repair a run and what comes behind it; `is_stuck` says whether a failure is left that nothing mends."""
        self.is_stuck = False
        if self.fixes:  # the first run was asked already
            run = run_with_enough_gpus(self.session, run, self.session.files)
        if run.outcome is not Outcome.FAILED or run.failure is None:
            return run
        if len(self.fixes) >= self.limit:
            self.repairs.append(Repair(run.failure, (), None))
            self.session.notes.append(f"stopped after {self.limit} fixes, as --max-fixes asks; a failure remains")
            return run
        step = self._steps.build(run)
        if step is None:
            self.repairs.append(Repair(run.failure, (), None))
            return run
        mark, files = len(self.repairs), self.session.files
        first: tuple[Run, list[Repair], dict[str, bytes]] | None = None
        for way in step.ways:
            trial = way if first is None else self._try_alternative(step, way, files)
            if trial is None:
                continue
            self.repairs[mark:] = [step.told(trial)]
            self._restore_files(dict(trial.files))
            final = self._repair_from(trial.run)
            if not self.is_stuck:
                return self._drop_redundant_fixes(step, mark, files, final)
            first = first or (final, self.repairs[mark:], self.session.files)
        if first is None:
            self.repairs.append(step.told(None))
            self.is_stuck = True
            return run
        final, self.repairs[mark:], self.session.files = first
        self.is_stuck = True
        return final

    def _try_alternative(
        self, step: Attempt, trial: CandidateResult, files: dict[str, bytes]
    ) -> CandidateResult | None:
        """Another way, confirmed in all worlds; None where enough were tried or it does not hold there."""
        if self._detours == 0:
            return None
        self._detours -= 1
        self.session.progress("that way leads nowhere: trying another")
        self._restore_files(files)
        confirmed = step.confirm(trial)
        return confirmed if confirmed.verdict.outcome == trial.verdict.outcome else None

    def _drop_redundant_fixes(self, step: Attempt, mark: int, files: dict[str, bytes], before: Run) -> Run:
        """Try each later fix in the place of the one at `mark`, which it may have made needless.

        The last run is returned: that of fewer fixes where they lead as far as all did, else the one `before`.
        """
        if before.outcome is Outcome.FAILED:
            return before
        known, changed = self.repairs[mark:], self.session.files
        fixes = [each.fix for each in known if each.fix]
        for number in range(1, len(fixes)):
            patch = rebase(fixes[number].patch, [edit for fix in fixes[:number] for edit in fix.patch.edits])
            if patch is None or self._again == 0:
                continue
            self._again -= 1
            self._restore_files(files)
            trial = step.attempt(patch)
            if trial.verdict.outcome in ("holds", "moved"):
                trial = step.confirm(trial)
            if trial.verdict.outcome in ("holds", "moved"):
                self.repairs[mark:] = [step.told(trial)]
                self._restore_files(dict(trial.files))
                final = self._repair_from(trial.run)
                # A failure that comes and goes is left alone, and nothing is stuck by it: the run tells.
                if final.outcome is before.outcome and sum(bool(each.fix) for each in self.repairs[mark:]) < len(fixes):
                    return final
            self.is_stuck, self.repairs[mark:] = False, known
            self._restore_files(changed)
        return before

    def _restore_files(self, files: dict[str, bytes]) -> None:
        self.session.files = files
        self._baselines.clear()

    def _baseline_soon(self, world: World) -> Future[Run]:
        if world not in self._baselines:
            files = dict(self.session.files)
            self._baselines[world] = self._pool.submit(self.session.run, world, files, False)
        return self._baselines[world]

    def _baseline(self, world: World) -> Run:
        """How the program does in a world before the patch in question."""
        return self._baseline_soon(world).result()
