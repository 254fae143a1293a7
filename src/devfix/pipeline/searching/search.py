"""Depth-first search over failures: fix one, run again, and backtrack if a fix leads to a failure without a fix."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import reduce

from devfix.model import NO_COUNTS, CountRequest, Failure, Fix, Others, Outcome, Patch, Repair, Run, World
from devfix.pipeline.obstacles import obstacle_of
from devfix.pipeline.opening.session import Session
from devfix.pipeline.regression_tests import prepare_regression_tests
from devfix.pipeline.searching.attempt import Attempt, AttemptBuilder
from devfix.pipeline.searching.caught import explain_end, with_lost_results
from devfix.pipeline.searching.choices import HOLDING, Choice
from devfix.pipeline.searching.companions import with_companion
from devfix.pipeline.searching.hanging import limit_idle_runs
from devfix.pipeline.searching.more_gpus import run_with_enough_gpus
from devfix.pipeline.searching.redundant import patches_with_less, sequences_with_less
from devfix.pipeline.searching.scripted import run_scripts_in_python
from devfix.registry import Rule
from devfix.verification.candidate import CandidateResult
from devfix.verification.other_commands.endings import describe_other_end, ends_as

CPU = World("cpu")
WITHOUT_GPU = ("no-device", "deserialize", "invalid-ordinal")
MAX_ALTERNATIVES = 3  # per repair: other fixes tried after the kept ones led to a failure without a fix
MAX_SIMPLIFICATIONS = 12  # per repair: tries to do with fewer fixes, or fewer parts of one
FailureKey = tuple[str, str, str, int]
Files = tuple[tuple[str, bytes], ...]


def failure_key(failure: Failure) -> FailureKey:
    """Return what identifies a failure in the searches of one repair."""
    at = failure.at
    return failure.kind, failure.op, at.path if at else "", at.line if at else 0


class Search:
    """Repairs one failure after another; `repairs` records each.

    A search that `repeats` may be repeated with `choices`, the candidates to keep for failures: it remembers what it
    has run, which takes memory.
    """

    def __init__(self, session: Session, limit: int, rules: Sequence[Rule], repeats: bool = False) -> None:
        self.session, self.limit, self.rules, self.repeats = session, limit, rules, repeats
        self.repairs: list[Repair] = []
        self.is_stuck = False
        self.choices: dict[FailureKey, Choice] = {}
        self._first: Run | None = None
        self._built: dict[tuple[FailureKey, World, Files], Attempt | None] = {}
        self._attempts = AttemptBuilder(session, rules, self._baseline)
        self._baselines: dict[World, Future[Run]] = {}
        self._failing: Failure | None = None

    @property
    def others(self) -> Others | None:
        """Return what the other commands that reach the fixes did; without fixes, those that reach candidates."""
        return self._attempts.others.summary([fix.patch for fix in self.fixes])

    @property
    def fixes(self) -> list[Fix]:
        """The kept fixes, in order."""
        return [each.fix for each in self.repairs if each.fix]

    def repair(self) -> Run:
        """Repair until nothing fails or nothing helps. Returns the last run in the failing world."""
        self.repairs = []
        self._alternatives_left, self._simplifications_left = MAX_ALTERNATIVES, MAX_SIMPLIFICATIONS
        self._restore_files({})
        with ThreadPoolExecutor(2) as pool:
            self._pool = pool
            # With several commands it is not known yet which one is repaired, nor where runs are ended after steps.
            if len(self.session.commands) == 1 and not self.session.steps:
                self._baseline_soon(CPU).add_done_callback(self._learn)
            with self.session.seconds.measure("observe"):
                first = self._first or first_run(self.session)
                first = explain_end(self.session, first, self._baseline)
            if self.repeats:
                self._first = first
                self.session.move_to(first.world)  # a search before may have found that later code needs more GPUs
            if first.outcome is Outcome.FAILED:
                self.session.preload(first)
                prepare_regression_tests(self.session)
            final = self._repair_from(first)
            self._repeat_unfinished(final)
            if final.outcome is Outcome.CLEAN and final.world != CPU and not self.fixes and CPU in self._baselines:
                self._note_failure_without_gpu(self._baseline(CPU))
            return with_lost_results(self.session, final, self._baseline)

    def _learn(self, baseline: Future[Run]) -> None:
        """Use what a run without a GPU shows, while the first run mostly takes longer: its imports, and its time."""
        if not baseline.cancelled() and baseline.exception() is None:
            self.session.preload(baseline.result())
            limit_idle_runs(self.session, baseline.result())

    def _repeat_unfinished(self, final: Run) -> None:
        """Run fixes that leave another failure in a fresh process; where it ends otherwise, reject all of them.

        Fixes after which nothing is left to repair have run in one when the last of them was verified.
        """
        if not self.fixes or self.fixes[-1].verdict.outcome != "progressed":
            return
        again = self.session.run(final.world, self.session.files, True)
        if ends_as(again, final):
            return
        self.repairs = [_reject_fix(each, describe_other_end(again, True)) for each in self.repairs]
        self.is_stuck = True
        self._restore_files({})

    def _note_failure_without_gpu(self, run: Run) -> None:
        """Note that the program works on GPUs but fails without one; it is fixed only with --world cpu."""
        failure = run.failure
        if run.outcome is Outcome.FAILED and failure is not None and failure.kind in WITHOUT_GPU and failure.at:
            where = f"{failure.at.shown}, {failure.summary}"
            self.session.notes.add(f"without a GPU the program fails at {where}; to fix that: --world cpu")

    def _repair_from(self, run: Run) -> Run:
        """Repair the failure of a run, and those after it; `is_stuck` becomes true if one is left without a fix."""
        self.is_stuck = False
        if self.fixes:  # more GPUs were already given to the first run
            run = run_with_enough_gpus(self.session, run, self.session.files)
        if run.outcome is not Outcome.FAILED or run.failure is None:
            return run
        if len(self.fixes) >= self.limit:
            self.repairs.append(Repair(run.failure, (), None))
            self.session.notes.add(f"stopped after {self.limit} fixes, as --max-fixes asks; a failure remains")
            return run
        run = run_scripts_in_python(self.session, run)
        assert run.failure is not None
        self._failing = run.failure
        attempt = self._attempt_for(run, run.failure)
        if attempt is None:
            self.repairs.append(Repair(run.failure, (), None))
            return run
        mark, files = len(self.repairs), self.session.files
        first: tuple[Run, list[Repair], dict[str, bytes]] | None = None
        choice = self.choices.get(failure_key(run.failure)) if attempt.verified else None
        candidates = (attempt.verified.pick(choice),) if attempt.verified and choice else attempt.candidates
        for candidate in candidates:
            kept = candidate if first is None else self._try_alternative(attempt, candidate, files)
            if kept is None:
                continue
            self.repairs[mark:] = [attempt.summarize(kept)]
            self._restore_files(dict(kept.files))
            final = self._repair_from(kept.run)
            if not self.is_stuck:
                return final if choice else self._simplify(attempt, mark, files, final)
            first = first or (final, self.repairs[mark:], self.session.files)
        if first is None:
            self.repairs.append(attempt.summarize(None))
            self.is_stuck = True
            return run
        final, self.repairs[mark:], self.session.files = first
        self.is_stuck = True
        return final

    def _attempt_for(self, run: Run, failure: Failure) -> Attempt | None:
        if not self.repeats:
            return self._attempts.build(run)
        key = (failure_key(failure), run.world, tuple(sorted(self.session.files.items())))
        if key not in self._built:
            self._built[key] = self._attempts.build(run)
        return self._built[key]

    def _try_alternative(
        self, attempt: Attempt, candidate: CandidateResult, files: dict[str, bytes]
    ) -> CandidateResult | None:
        """Return another candidate, verified in all worlds; None if the limit is reached or it is not verified."""
        if self._alternatives_left == 0:
            return None
        self._alternatives_left -= 1
        self.session.progress("backtracking: trying the next candidate")
        self._restore_files(files)
        confirmed = attempt.confirm(candidate)
        return confirmed if confirmed.verdict.outcome == candidate.verdict.outcome else None

    def _simplify(self, attempt: Attempt, mark: int, files: dict[str, bytes], before: Run) -> Run:
        """Drop fixes from `mark` on that have become redundant, while the budget lasts; return the last run."""
        known, changed = self.repairs[mark:], self.session.files
        with self.session.optional("fewer fixes were tried"):
            return self._drop_redundant_fixes(attempt, mark, files, before)
        self.is_stuck, self.repairs[mark:] = False, known
        self._restore_files(changed)
        return before

    def _drop_redundant_fixes(self, attempt: Attempt, mark: int, files: dict[str, bytes], before: Run) -> Run:
        """Try later fixes in place of the one at `mark`, which may have become redundant, or a part of it.

        Returns the last run with fewer fixes if they lead as far as all did, otherwise the run `before`.
        """
        if before.outcome is Outcome.FAILED or self._simplifications_left == 0:
            return before
        known, changed = self.repairs[mark:], self.session.files
        patches = [each.fix.patch for each in known if each.fix]
        for patch in patches_with_less(patches, known[0].failure):
            candidate = self._attempt_simpler(attempt, patch, files)
            if candidate is not None:
                self.repairs[mark:] = [attempt.summarize(candidate)]
                self._restore_files(dict(candidate.files))
                final = self._repair_from(candidate.run)
                # A flaky failure is skipped and does not count as stuck, so the outcomes of the runs are compared.
                fixes = [each.fix for each in self.repairs[mark:] if each.fix]
                if final.outcome is before.outcome and len(fixes) < len(patches):
                    return final
            self.is_stuck, self.repairs[mark:] = False, known
            self._restore_files(changed)
        for kept in sequences_with_less(patches) if len(patches) == len(known) else ():
            together = replace(reduce(with_companion, kept), rule=patches[0].rule) if kept else None
            candidate = self._attempt_simpler(attempt, together, files) if together is not None else None
            if candidate is not None and candidate.run.outcome is before.outcome:
                self.repairs[mark:] = [*map(self._with_patch, known[len(known) - len(kept) :], kept)]
                self._restore_files(dict(candidate.files))
                return candidate.run
            self._restore_files(changed)
        return before

    def _attempt_simpler(self, attempt: Attempt, patch: Patch, files: dict[str, bytes]) -> CandidateResult | None:
        """Return a patch that holds in all worlds, against some files; None if it does not, or after too many tries."""
        if self._simplifications_left == 0:
            return None
        self._simplifications_left -= 1
        self._restore_files(files)
        candidate = attempt.attempt(patch)
        if candidate.verdict.outcome in HOLDING:
            candidate = attempt.confirm(candidate)
        return candidate if candidate.verdict.outcome in HOLDING else None

    def _with_patch(self, repair: Repair, patch: Patch) -> Repair:
        """Return a repair whose fix has another patch."""
        if repair.fix is None:
            return repair
        return replace(repair, fix=replace(repair.fix, patch=patch, diff=self.session.diff_of(patch)))

    def _restore_files(self, files: dict[str, bytes]) -> None:
        self.session.files = files
        self._baselines.clear()

    def _baseline_soon(self, world: World) -> Future[Run]:
        if world not in self._baselines:
            files, at = dict(self.session.files), self._failing.at if self._failing else None
            steps = self.session.steps
            reach = CountRequest((at,), steps=steps) if at and steps else NO_COUNTS
            self._baselines[world] = self._pool.submit(self.session.run, world, files, False, reach)
        return self._baselines[world]

    def _baseline(self, world: World) -> Run:
        """Return a run of the program in a world without the patch in question."""
        return self._baseline_soon(world).result()


def _reject_fix(repair: Repair, reason: str) -> Repair:
    if repair.fix is None:
        return repair
    broken = replace(repair.fix, verdict=replace(repair.fix.verdict, outcome="broken", reason=reason))
    return replace(repair, fix=None, rejected=(broken, *repair.rejected))


def first_run(session: Session) -> Run:
    """Run the commands, cheapest first, until one fails on a device; it becomes the target of the session.

    A command that asks for more GPUs runs in a world that has them; the next command starts with the first world again.
    """
    first = session.target
    tried = []
    for command in session.commands:
        session.observer.target = replace(first, command=command.words)
        session.command_text, session.gpus_needed = command.shown, None
        session.progress(f"running {command.shown} on {session.world.name}")
        run = run_with_enough_gpus(session, session.run(session.world, {}, True), {})
        tried.append((run, command, session.target, session.gpus_needed))
        if len(session.commands) > 1:
            obstacle = obstacle_of(session, run)
            why = f", {obstacle.message}" if obstacle else ""
            session.notes.add(f"tried `{command.shown}` ({command.origin}): {run.outcome.value}{why}")
        if run.outcome is Outcome.FAILED:
            return run
    # If no command fails on a device, one that runs clean is preferred to one that lacks an argument.
    best = next((each for each in tried if each[0].outcome is Outcome.CLEAN), tried[0])
    run, command, session.observer.target, session.gpus_needed = best
    session.command_text = command.shown
    return run
