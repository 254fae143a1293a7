"""Select the fix: run each candidate in the world that failed, then in every other. The caller runs the program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import islice

from devfix.model import NO_COUNTS, CountRequest, Diagnosis, Outcome, Patch, Run, Verdict, VerdictOutcome, World
from devfix.verification.candidate import (
    CandidateResult,
    diversify,
    is_not_better_than,
    is_settled,
    is_stronger,
    mark_superseded,
    reject,
)
from devfix.verification.checks.computation import diff_totals, extra_gpu_work, left_gpu
from devfix.verification.checks.ended import ENDED_NOTE, counts_for, stops_before
from devfix.verification.checks.model_summaries import differs_by_children, registered_attributes
from devfix.verification.checks.operand_values import detect_operand_change, expected_checksums, misses_expected
from devfix.verification.checks.stdout import (
    differing_numbers,
    gpu_only_lines,
    last_line,
    prints_alike,
    stdout_differs,
    unseeded_note,
)
from devfix.verification.checks.suppression import still_fails
from devfix.verification.classification import classify_run
from devfix.verification.evidence import Objection
from devfix.verification.other_commands.endings import describe_other_end, ends_alike, ends_as
from devfix.verification.requests import CPU, Expect, expect_nothing, expected_requests, first_request

# Arguments: world, changed files, whether the process must be a fresh one, locations at which operators are counted.
Runner = Callable[[World, Mapping[str, bytes], bool, CountRequest], Run]
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
            while left > 0 and (batch := list(islice(queue, min(left, self.jobs) if candidates else 1))):
                if self.report_progress is not None:
                    tried = len(candidates)
                    self.report_progress(tried + 1, tried + len(batch), tried + left, batch[0].title)
                left -= len(batch)
                given = (self.before, self.files, self.worlds, batch[0], blamed[batch[0].rule])
                self.expect(expected_requests(*given, is_first=not candidates) if held is None else ())
                runs = [pool.submit(self.run_on_failing_world, patch, blamed[patch.rule]) for patch in batch]
                if not candidates and self.jobs > 1 and self.expect is expect_nothing:  # a core is free
                    self._control = pool.submit(self.run, self.before.world, self.files, False, NO_COUNTS)
                for candidate in (run.result() for run in runs):
                    if candidate.verdict.outcome == "verified" and not (held and is_not_better_than(candidate, held)):
                        candidate = self._review(self.verify_on_all_worlds(candidate, pool))
                    elif candidate.verdict.outcome == "verified":
                        candidate = reject(candidate, "another verified candidate makes no more copies or is nearer")
                    candidates.append(candidate)
                    if candidate.verdict.outcome == "progressed":
                        if not further:
                            queue = iter(diversify(islice(queue, left), [candidate.patch]))
                            left = min(left, FURTHER)
                        further.append(candidate)
                    if candidate.verdict.outcome == "verified" and not (held and is_not_better_than(candidate, held)):
                        if held is None:
                            left = min(left, BETTER)
                        held = candidate
                if self.is_flaky or (held is not None and is_settled(held)):
                    break
            self.expect(())
            stronger = [each for each in further if held is None or is_stronger(each, held, self.before.failure)]
            if stronger and not self.is_flaky:
                held = self._best_progress(stronger, pool, candidates) or held
        if held is not None and held.verdict.outcome == "verified":
            candidates = [mark_superseded(candidate) for candidate in candidates]
        self.untried = list(queue) if queue is not source else []
        return held, [each for each in candidates if each is not held and each.patch is not (held and held.patch)]

    def run_on_failing_world(self, patch: Patch, diagnosis: Diagnosis) -> CandidateResult:
        """Run one candidate in the world that failed."""
        home, files, fresh, reach = first_request(self.before, self.files, patch, diagnosis, self.steps)
        run = self.run(home, files, fresh, reach)
        ends_well = run.outcome is Outcome.CLEAN or self._ends_as_without_gpu(run, patch)
        outcome, reason = classify_run(self.before, run, patch, diagnosis, ends_well)
        if outcome in ("verified", "progressed") and (other := self._operand_change(diagnosis, reach, run, files)):
            outcome, reason = "behaviour-changed", other
        copies, worlds = (self.before.copies, run.copies), {home.name: run.ending}
        return CandidateResult(patch, files, run, Verdict(outcome, worlds, *copies, reason, run.failure))

    def _operand_change(self, diagnosis: Diagnosis, reach: CountRequest, after: Run, files: Mapping[str, bytes]) -> str:
        before, runner, home = self.before, self.run, self.before.world
        if before.failure is None or not misses_expected(before, reach, after):
            return ""
        if self._draws_unseeded(before, after):
            runner = self.seeded
            before = replace(runner(home, self.files, False, NO_COUNTS), operator_counts=before.operator_counts)
            reach = replace(reach, expected_values=expected_checksums(before.failure, diagnosis))
            after = runner(home, files, False, reach)
        plain, patched = partial(runner, home, self.files, False, NO_COUNTS), partial(runner, home, files, False)
        return detect_operand_change(before, diagnosis, reach, after, plain, patched)

    def _draws_unseeded(self, *runs: Run) -> bool:
        """Return whether runs drew from unseeded generators, so that they may agree by chance."""
        names = sorted({name for run in runs for name in run.unseeded})
        if names:
            self.flaky.append(unseeded_note(names))
        return bool(names)

    def _ends_as_without_gpu(self, run: Run, patch: Patch) -> bool:
        """Return whether a program fails for the reason for which it also fails without a GPU, unpatched."""
        if run.outcome is not Outcome.OTHER or self.before.world == CPU or CPU not in self.worlds:
            return False
        return ends_alike(run, self.baseline(CPU), patch.edits)

    def _best_progress(
        self, further: Sequence[CandidateResult], pool: ThreadPoolExecutor, candidates: list[CandidateResult]
    ) -> CandidateResult | None:
        doubtful = list[CandidateResult]()
        for candidate in further:
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
            elif world != home and (worse := self._worse(world, candidate, run)):
                outcome, reason = worse
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
            candidate.verdict, outcome=outcome, worlds=worlds, reason=reason, before=before, objections=against
        )
        return replace(candidate, verdict=verdict, worlds_still_failing=worlds_still_failing)

    def _worse(self, world: World, candidate: CandidateResult, run: Run) -> tuple[VerdictOutcome, str] | None:
        if run.outcome is Outcome.CLEAN and world != CPU:
            return None
        before = self.baseline(world)
        if run.outcome is not Outcome.CLEAN and before.outcome is Outcome.CLEAN:
            return "regressed", f"{world.name} ran before, now it {run.outcome.value}: {last_line(run)}"
        ended = before.outcome is Outcome.OTHER and candidate.run.outcome is Outcome.OTHER and world == CPU
        if ended and not ends_alike(run, before, candidate.patch.edits):
            now = f"now it {run.outcome.value}: {last_line(run)}"
            return "regressed", f"{world.name} ended with {last_line(before)}, {now}"
        if not ended and (before.outcome, run.outcome) != (Outcome.CLEAN, Outcome.CLEAN):
            return None
        if before.torch and not run.torch:
            return "behaviour-changed", f"nothing is seen of the program any more in the world {world.name}"
        if before.ended or run.ended:
            self.flaky.append(ENDED_NOTE)
            return None
        if prints_alike(before.stdout, run.stdout) and not diff_totals([before], run, candidate.patch.recomputes):
            return None
        if not self._draws_unseeded(before, run):
            return self._differs(world, candidate, before, run, self.run)
        before, run = (self.seeded(world, files, False, NO_COUNTS) for files in (self.files, candidate.files))
        if before.outcome is not (Outcome.OTHER if ended else Outcome.CLEAN):
            return None  # with these numbers the program ends otherwise, so nothing can be compared
        if run.outcome is not before.outcome:
            return "regressed", f"{world.name} ran before, with a seed, now it {run.outcome.value}: {last_line(run)}"
        return self._differs(world, candidate, before, run, self.seeded)

    def _differs(
        self, world: World, candidate: CandidateResult, before: Run, run: Run, runner: Runner
    ) -> tuple[VerdictOutcome, str] | None:
        if prints_alike(before.stdout, run.stdout) and not diff_totals([before], run, candidate.patch.recomputes):
            return None
        again = runner(world, self.files, False, NO_COUNTS)
        new = registered_attributes(candidate.patch.edits)  # printed summaries of the model may tell of them
        alike = prints_alike(before.stdout, run.stdout) or differs_by_children(before.stdout, run.stdout, new)
        if not alike and self._prints_else(world, candidate, [before, again], run, runner):
            return "behaviour-changed", f"the program prints something else in the world {world.name}"
        plain = [before, again]
        if diff_totals(plain, run, candidate.patch.recomputes):  # run again to exclude chance
            plain.append(runner(world, self.files, False, NO_COUNTS))
        if computes := diff_totals(plain, run, candidate.patch.recomputes):
            return "behaviour-changed", f"the program computes something else in the world {world.name}: {computes}"
        return None

    def _prints_else(
        self, world: World, candidate: CandidateResult, plain: Sequence[Run], run: Run, runner: Runner
    ) -> bool:
        before = [each.stdout for each in plain]
        if prints_alike(*before):
            return True
        where = f"what the program prints in the world {world.name}"
        self.flaky.append(f"{where} changes from run to run: only the lines that repeat are compared")
        third, other = (runner(world, files, False, NO_COUNTS).stdout for files in (self.files, candidate.files))
        return stdout_differs([*before, third], [run.stdout, other])
