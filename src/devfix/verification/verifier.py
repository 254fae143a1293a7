"""Select the fix: run each candidate in the world that failed, then in every other. The caller runs the program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import islice

from devfix.errors import BudgetSpentError
from devfix.model import NO_COUNTS, CountRequest, Diagnosis, Outcome, Patch, Run, Verdict, World
from devfix.verification.candidate import (
    CandidateResult,
    diversify,
    is_not_better_than,
    is_settled,
    is_stronger,
    mark_superseded,
    order_by_copies,
    reject,
)
from devfix.verification.checks.computation import extra_gpu_work, left_gpu
from devfix.verification.checks.ended import counts_for, stops_before
from devfix.verification.checks.operand_values import detect_operand_change, expected_checksums, misses_expected
from devfix.verification.checks.stdout import differing_numbers, gpu_only_lines
from devfix.verification.checks.suppression import still_fails
from devfix.verification.classification import classify_run
from devfix.verification.evidence import Objection
from devfix.verification.numbers_met import numbers_met
from devfix.verification.other_commands.endings import describe_other_end, ends_alike, ends_as
from devfix.verification.other_worlds import AS_BEFORE, OtherWorlds, Runner
from devfix.verification.requests import CPU, Expect, expect_nothing, expected_requests, first_request

Review = Callable[[Patch, Mapping[str, bytes]], Sequence[Objection]]
CANDIDATES = 24
BETTER = 6  # more candidates to try for fewer copies, after one is verified but copies in a loop
FURTHER = 6  # more candidates to try, after one reaches a failure with another cause


class Verifier:
    """Verifies candidates against one failing run; `run` is called from up to `jobs` threads at once."""

    def __init__(
        self,
        run: Runner,
        before: Run,
        files: Mapping[str, bytes],
        worlds: Sequence[World],
        baseline: Callable[[World], Run],
        jobs: int = 2,
        seeded: Runner | None = None,
        review: Review | None = None,
        report_progress: Callable[[int, int, int, str], None] | None = None,
        steps: int = 0,
        expect: Expect | None = None,
        threads: int = 0,
        promising: Callable[[Patch], None] | None = None,
    ) -> None:
        """Run candidates by `run`, or by `seeded`, which seeds generators, if the program draws from unseeded ones.

        `review` returns objections to a verified patch, given the files that it leads to. Runs with a patch are ended
        after `steps` runs of an operator at the failing line, if that is not 0. `expect` is given the runs that will be
        asked for if a candidate holds, before it has run, and `promising` each patch that holds in the world that
        failed. `threads` is how many runs of one candidate are asked for at once.
        """
        self.run, self.before, self.files, self.worlds, self.baseline = run, before, files, worlds, baseline
        self.jobs, self.report_progress, self.steps = jobs, report_progress, steps
        self.expect, self._threads = expect or expect_nothing, max(jobs, threads)
        self.seeded = seeded or run
        self.review, self.promising = review, promising
        self.flaky: list[str] = []
        self._others = OtherWorlds(run, self.seeded, files, baseline, self.flaky)
        self.untried: list[Patch] = []  # taken from the candidates, but never run
        self._control: Future[Run] | None = None
        self.is_flaky = False  # the failure comes and goes, so runs of patches prove nothing

    def select_best(
        self, patches: Iterable[Patch], diagnoses: Sequence[Diagnosis]
    ) -> tuple[CandidateResult | None, list[CandidateResult]]:
        """Return the candidate to keep, and the rejected ones.

        The first that is verified in every world is kept, or a later one with fewer copies if it copies in a loop or
        moves more than what failed. Else, or if its evidence is weaker, the first that leads to another cause is kept.
        """
        held: CandidateResult | None = None
        candidates, further = list[CandidateResult](), list[CandidateResult]()
        blamed, source = {each.rule: each for each in diagnoses}, iter(patches)
        left, queue = CANDIDATES, source
        with ThreadPoolExecutor(self._threads) as pool:
            try:
                while left > 0 and (batch := list(islice(queue, min(left, self.jobs) if candidates else 1))):
                    self._report_progress(len(candidates), len(batch), left, batch[0])
                    left -= len(batch)
                    given = (self.before, self.files, self.worlds, batch[0], blamed[batch[0].rule])
                    self.expect(expected_requests(*given, is_first=not candidates) if held is None else ())
                    runs = [pool.submit(self.run_on_failing_world, patch, blamed[patch.rule]) for patch in batch]
                    if not candidates and self.jobs > 1 and self.expect is expect_nothing:  # a core is free
                        self._control = pool.submit(self.run, self.before.world, self.files, False, NO_COUNTS)
                    for run in runs:
                        candidate = self._judge(run.result(), held, pool)
                        candidates.append(candidate)
                        if candidate.verdict.outcome == "progressed":
                            if not further:
                                queue = iter(diversify(islice(queue, left), [candidate.patch]))
                                left = min(left, FURTHER)
                            further.append(candidate)
                        is_verified = candidate.verdict.outcome == "verified"
                        if is_verified and not (held and is_not_better_than(candidate, held)):
                            left = min(left, BETTER) if held is None else left
                            held = candidate
                    if self.is_flaky or (held is not None and is_settled(held)):
                        break
                self.expect(())
                stronger = [each for each in further if held is None or is_stronger(each, held, self.before.failure)]
                if stronger and not self.is_flaky:
                    held = self._best_progress(stronger, pool, candidates) or held
            except BudgetSpentError:
                if held is None:
                    raise
                self.expect(())
                self.flaky.append("the budget was over before the kept fix was compared with all other candidates")
        if held is not None and held.verdict.outcome == "verified":
            candidates = [mark_superseded(candidate) for candidate in candidates]
        self.untried = list(queue) if queue is not source else []
        return held, [each for each in candidates if each is not held and each.patch is not (held and held.patch)]

    def _report_progress(self, tried: int, count: int, left: int, first: Patch) -> None:
        if self.report_progress is not None:
            self.report_progress(tried + 1, tried + count, tried + left, first.title)

    def _judge(
        self, candidate: CandidateResult, held: CandidateResult | None, pool: ThreadPoolExecutor
    ) -> CandidateResult:
        """Return a candidate with its verdict in all worlds, if it holds in its own and `held` is no better."""
        if candidate.verdict.outcome != "verified":
            return candidate
        if held is not None and is_not_better_than(candidate, held):
            return reject(candidate, "another verified candidate makes no more copies or is nearer")
        return self._review(self.verify_on_all_worlds(candidate, pool))

    def run_on_failing_world(self, patch: Patch, diagnosis: Diagnosis) -> CandidateResult:
        """Run one candidate in the world that failed."""
        home, files, fresh, reach = first_request(self.before, self.files, patch, diagnosis, self.steps)
        run = self.run(home, files, fresh, reach)
        ends_well = run.outcome is Outcome.CLEAN or self._ends_as_without_gpu(run, patch)
        outcome, reason = classify_run(self.before, run, patch, diagnosis, ends_well)
        if outcome in ("verified", "progressed") and (other := self._operand_change(diagnosis, reach, run, files)):
            outcome, reason = "behaviour-changed", other
        copies, worlds = (self.before.copies, run.copies), {home.name: run.ending}
        numbers = numbers_met(run, patch) if outcome == "broken" else ()
        verdict = Verdict(outcome, worlds, *copies, reason, run.failure)
        return CandidateResult(patch, files, run, verdict, numbers=numbers)

    def _operand_change(self, diagnosis: Diagnosis, reach: CountRequest, after: Run, files: Mapping[str, bytes]) -> str:
        before, runner, home = self.before, self.run, self.before.world
        if before.failure is None or not misses_expected(before, reach, after):
            return ""
        if self._others.draws_unseeded(before, after):
            runner = self.seeded
            before = replace(runner(home, self.files, False, NO_COUNTS), operator_counts=before.operator_counts)
            reach = replace(reach, expected_values=expected_checksums(before.failure, diagnosis))
            after = runner(home, files, False, reach)
        plain, patched = partial(runner, home, self.files, False, NO_COUNTS), partial(runner, home, files, False)
        return detect_operand_change(before, diagnosis, reach, after, plain, patched)

    def _ends_as_without_gpu(self, run: Run, patch: Patch) -> bool:
        """Return whether a program fails for the reason for which it also fails without a GPU, unpatched."""
        if run.outcome is not Outcome.OTHER or self.before.world == CPU or CPU not in self.worlds:
            return False
        return ends_alike(run, self.baseline(CPU), patch.edits)

    def _best_progress(
        self, further: Sequence[CandidateResult], pool: ThreadPoolExecutor, candidates: list[CandidateResult]
    ) -> CandidateResult | None:
        doubtful = list[CandidateResult]()
        for candidate in order_by_copies(further):
            judged = self._review(self.verify_on_all_worlds(candidate, pool))
            candidates[candidates.index(candidate)] = judged
            if judged.verdict.outcome == "progressed" and not judged.verdict.objections:
                return judged
            if judged.verdict.outcome == "progressed":
                doubtful.append(judged)
        return next(iter(doubtful), None)

    def _review(self, candidate: CandidateResult) -> CandidateResult:
        """Collect the objections to a candidate that did well; strong ones reject it."""
        if candidate.verdict.outcome not in ("verified", "progressed"):
            return candidate
        found = self.review(candidate.patch, candidate.files) if self.review is not None else ()
        strong = [each for each in found if each.strength == "strong"]
        weak = [each.reason for each in found if each.strength != "strong"]
        against = (*(each.reason for each in strong), *candidate.verdict.objections, *weak)  # as reports show them
        verdict = replace(candidate.verdict, objections=against)
        if strong:
            verdict = replace(verdict, outcome="regressed", reason=strong[0].reason)
        numbers = tuple(dict.fromkeys(each.numbers for each in strong))
        return replace(candidate, verdict=verdict, is_reviewed=True, numbers=numbers if all(numbers) else ())

    def confirm(self, candidate: CandidateResult) -> CandidateResult:
        """Verify a candidate in the other worlds that was not verified there at first."""
        with ThreadPoolExecutor(self._threads) as pool:
            return self._review(self.verify_on_all_worlds(candidate, pool))

    def verify_on_all_worlds(self, candidate: CandidateResult, pool: ThreadPoolExecutor) -> CandidateResult:
        """Run a candidate in all other worlds, and again in its own: in a fresh process if no failure is left."""
        if self.promising is not None:
            self.promising(candidate.patch)
        home, edits = self.before.world, candidate.patch.edits
        others = [world for world in self.worlds if world != home]
        counted = counts_for(self.before, candidate, others, self.steps)
        fresh = candidate.verdict.outcome == "verified"
        runs: dict[World, Future[Run]] = {
            world: pool.submit(self.run, world, candidate.files, fresh and world == home, counted.get(world, NO_COUNTS))
            for world in [home, *others]
        }
        control, self._control = self._control or pool.submit(self.run, home, self.files, False, NO_COUNTS), None
        effects = candidate.verdict.effects
        worlds, outcome, reason, worlds_still_failing = {}, candidate.verdict.outcome, candidate.verdict.reason, 0
        for world, future in runs.items():
            run = future.result()
            worlds[world.name] = run.ending
            if outcome in ("regressed", "behaviour-changed", "broken"):
                continue
            worlds_still_failing += world != home and still_fails(self.before, run, edits)
            if missed := stops_before(run, counted):
                outcome, reason = "broken", missed
            elif world == home and not ends_as(run, candidate.run):
                outcome, reason = "broken", describe_other_end(run, fresh)
            elif world != home and (found := self._others.compare(world, candidate, run)) != AS_BEFORE:
                outcome, reason = (found.outcome, found.reason) if found.outcome else (outcome, reason)
                effects += (found.effect,) if found.effect else ()
            elif world == CPU and (apart := extra_gpu_work(self.before, runs[home].result(), run, edits)):
                outcome, reason = "behaviour-changed", apart
        if control.result().outcome is Outcome.CLEAN:
            outcome, reason = "broken", "the failure is flaky: without the patch the program ran clean as well"
            self.flaky.append("the failure is flaky: a later run of the same program was clean; it is skipped")
            self.is_flaky = True
        against = candidate.verdict.objections + left_gpu(self.before, candidate.run)
        if outcome == "verified" and CPU in runs:
            pair = [candidate.run, runs[home].result()]
            against += gpu_only_lines(self.before, pair, runs[CPU].result())
            if numbers := differing_numbers(self.before, pair, runs[CPU].result()):
                outcome, reason = "behaviour-changed", f"on a GPU the program prints {numbers}"
        before = {home.name: self.before.ending}
        if outcome in ("verified", "progressed") and CPU in others:  # others are only run without it if it fails there
            before[CPU.name] = self.baseline(CPU).ending
        verdict = replace(
            candidate.verdict,
            outcome=outcome,
            worlds=worlds,
            reason=reason,
            before=before,
            objections=against,
            effects=tuple(dict.fromkeys(effects)),
        )
        return replace(candidate, verdict=verdict, worlds_still_failing=worlds_still_failing)
