"""Repair one failure: collect its scopes, diagnose it, and run every candidate."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice

from devfix.diagnosis.diagnose import diagnose
from devfix.diagnosis.propose import propose
from devfix.diagnosis.similar_code import similar_sites
from devfix.execution.device_matrix import worlds_to_verify
from devfix.model import CountRequest, Diagnosis, Failure, Fix, Patch, Rejected, Repair, RuleDecision, Run, World
from devfix.notes import Notes
from devfix.pipeline.opening.parallel_runs import MOST as MOST_RUNS
from devfix.pipeline.opening.parallel_runs import parallel_runs
from devfix.pipeline.opening.session import JOBS, Session
from devfix.pipeline.regression_tests import begin_regression_test
from devfix.pipeline.searching.choices import VerifiedCandidates
from devfix.pipeline.searching.drawn_ahead import DrawnAhead
from devfix.pipeline.searching.extend import Extension
from devfix.pipeline.searching.other_commands import OtherCommands
from devfix.registry import Rule
from devfix.sdk import Sources
from devfix.sdk.trace.sites import locations_without_scope
from devfix.verification.candidate import CandidateResult, mark_superseded, reject
from devfix.verification.evidence import Objection
from devfix.verification.objections.code import Code
from devfix.verification.objections.collect import objections
from devfix.verification.requests import expected_requests
from devfix.verification.verifier import CANDIDATES, Verifier

MOMENT, MOST = 2.0, 200  # limits of the list of untried candidates: seconds, and how many
Baseline = Callable[[World], Run]  # runs the program in a world without the patch


@dataclass(frozen=True)
class Attempt:
    """The candidates for one failure that the search may continue from, best first.

    `summarize` returns the record of the failure if one of them, or None, is kept. `confirm` verifies one of them in
    the other worlds. `attempt` runs a patch that no rule has proposed for this failure. `verified` has those that hold,
    from which the caller may choose; None if none does.
    """

    candidates: tuple[CandidateResult, ...]
    summarize: Callable[[CandidateResult | None], Repair]
    confirm: Callable[[CandidateResult], CandidateResult]
    attempt: Callable[[Patch], CandidateResult]
    verified: VerifiedCandidates | None = None


class AttemptBuilder:
    """Builds the attempts of one repair."""

    def __init__(self, session: Session, rules: Sequence[Rule], baseline: Baseline) -> None:
        self.session, self.rules, self._baseline = session, rules, baseline
        self.others = OtherCommands(session, session.other_seconds)

    def build(self, run: Run) -> Attempt | None:
        """Return the attempt to fix the failure of a run; None if the failure does not occur again."""
        session = self.session
        session.progress("collecting the origins of the tensors")
        known = {rule.id: rule for rule in self.rules}
        worlds = worlds_to_verify(run.world, session.gpus_seen, session.claimed)
        until = session.target.until
        expect = session.expect if until is None else None
        if until is None or not (until.url or until.seconds):  # a server needs its port, and time must not be short
            limit = session.observer.limits.memory * JOBS  # of the warm process, in which most of them take place
            session.slots.widen(parallel_runs(run, session.slots.count, limit))
        with session.seconds.measure("look"), ThreadPoolExecutor(1) as pool:
            look = pool.submit(self._second_look, run)
            if expect is not None:
                self._expect_first(run, worlds)
            looked = look.result()
        if looked is None or looked.failure is None:
            session.expect(())
            return None
        sources = session.sources()
        decisions: list[RuleDecision] = []
        diagnoses = diagnose(looked.failure, self.rules, sources, decisions=decisions)
        rejected: list[Rejected] = []
        declined: dict[str, str] = {}
        patches = DrawnAhead(propose(diagnoses, known, sources, rejected=rejected, declined=declined))
        tests = partial(begin_regression_test, session, looked.failure, looked.seconds)
        queue: Iterator[Patch] = patches
        if session.slots.count > JOBS and (first := next(patches, None)) is not None:  # a slot is free already
            tests(first)
            queue = chain([first], patches)

        def promise(patch: Patch) -> None:
            tests(patch)
            patches.begin(MOST, MOMENT)  # which the report lists, if this one holds

        given = (session.run, looked, session.files, worlds, self._baseline)
        review, report_progress = self._review(looked.failure), session.progress.candidates
        verifier = Verifier(
            *given,
            seeded=session.run_seeded,
            review=review,
            report_progress=report_progress,
            steps=session.steps,
            expect=expect,
            threads=MOST_RUNS,
            promising=promise,
        )
        session.progress("trying candidates" if diagnoses else "no rule knows this failure")
        with session.seconds.measure("verify"):
            kept, rest = verifier.select_best(queue, diagnoses)
            patches.end()
            if not verifier.is_flaky and (kept is None or kept.verdict.outcome != "verified"):
                extension = Extension(session, verifier, self.rules, diagnoses)
                if better := extension.better(kept, rest):
                    kept, rest = better, [*filter(None, [kept]), *rest]
        with session.seconds.measure("list"):
            left = [*verifier.untried, *_within_time(patches)]
            untried = tuple(_never_run(kept, rest, left, rejected))
        session.notes.add(*verifier.flaky)
        alternatives = [candidate for candidate in rest if kept and _is_alternative(candidate, kept)]
        alternatives.sort(key=lambda candidate: candidate.verdict.outcome != "verified")
        verified = VerifiedCandidates(verifier, kept, rest, left, diagnoses) if kept else None

        def summarize(chosen: CandidateResult | None) -> Repair:
            every = [*filter(None, [kept]), *rest]
            beside = [
                candidate if chosen is None else _rejected_for(chosen, candidate, kept, alternatives)
                for candidate in every
                if candidate is not chosen
            ]
            return Repair(
                looked.failure or run.failure,  # type: ignore[arg-type]
                tuple(_confirmed_findings(diagnoses, every)),
                self._fix(chosen, True) if chosen else None,
                tuple(
                    self._fix(candidate)
                    for candidate in beside
                    if chosen is None or candidate.patch is not chosen.patch
                ),
                untried=tuple(each for each in untried if chosen is None or each.patch is not chosen.patch),
                decisions=tuple(replace(each, no_changes=declined.get(each.rule, "")) for each in decisions),
            )

        def attempt(patch: Patch) -> CandidateResult:
            known = next((each for each in diagnoses if each.rule == patch.rule), diagnoses[0])
            return verifier.run_on_failing_world(patch, known)

        return Attempt((kept, *alternatives) if kept else (), summarize, verifier.confirm, attempt, verified)

    def _review(self, failure: Failure) -> Callable[[Patch, Mapping[str, bytes]], list[Objection]]:
        session = self.session

        def review(patch: Patch, files: Mapping[str, bytes]) -> list[Objection]:
            found = objections(patch, failure, Code(files, session.repository.content, session.repository.containing))
            if any(each.strength == "strong" for each in found):
                return found  # strong evidence in the source: other commands need not run
            ran = [*self.others.objections(patch, files, failure), *found]
            return sorted(ran, key=lambda each: each.strength)

        return review

    def _expect_first(self, run: Run, worlds: Sequence[World]) -> None:
        """Begin the runs of the candidate that will probably be the first, if the second look shows nothing else.

        The first run lacks the scopes of functions that have returned, with which rules may propose another one.
        """
        assert run.failure is not None
        sources = Sources(self.session.content, self.session.repository.containing, Notes())
        diagnoses = diagnose(run.failure, self.rules, sources)
        patch = next(propose(diagnoses, {rule.id: rule for rule in self.rules}, sources), None)
        if patch is None:
            return
        blamed = next(each for each in diagnoses if each.rule == patch.rule)
        self.session.expect(expected_requests(run, self.session.files, worlds, patch, blamed))

    def _second_look(self, run: Run) -> Run | None:
        """Run the program again, recording the scopes that the first run did not; None if the failure is flaky."""
        assert run.failure is not None
        watch = list(locations_without_scope(run.failure))
        reach = CountRequest((run.failure.at,) if run.failure.at else ())
        again = self.session.observer.run(
            run.world, self.session.files, watch=watch, reach=reach, fresh=False, calls=self.session.writes_tests
        )
        failure = again.failure
        if failure is None or (failure.kind, failure.op) != (run.failure.kind, run.failure.op):
            second = f"a second run of the same program {again.outcome.value}"
            self.session.notes.add(f"flaky failure, skipped: {second}")
            return None
        run = replace(run, failure=replace(run.failure, calls=failure.calls, test=failure.test))
        assert run.failure is not None
        failure = replace(run.failure, scopes=again.watched)
        return replace(
            run, failure=failure, operator_counts=again.operator_counts, operator_totals=again.operator_totals
        )

    def _fix(self, candidate: CandidateResult, kept: bool = False) -> Fix:
        session, patch = self.session, candidate.patch
        before = {edit.path: edit.before for edit in patch.edits}
        diff = session.worktrees.diff(before, {edit.path: edit.after for edit in patch.edits})
        if not kept:
            return Fix(patch, candidate.verdict, diff)
        similar = similar_sites(patch, partial(session.read, candidate.files), session.repository.containing)
        return Fix(patch, candidate.verdict, diff, tuple(similar))


def _is_alternative(candidate: CandidateResult, kept: CandidateResult) -> bool:
    """Return whether a candidate is verified although `kept` is not, or progressed by an edit at another place."""
    places = [{(edit.path, edit.line) for edit in each.patch.edits} for each in (candidate, kept)]
    if kept.verdict.outcome != "progressed":
        return False
    return candidate.verdict.outcome == "verified" or (
        candidate.verdict.outcome == "progressed" and places[0].isdisjoint(places[1])
    )


def _rejected_for(
    chosen: CandidateResult,
    candidate: CandidateResult,
    kept: CandidateResult | None,
    alternatives: Sequence[CandidateResult],
) -> CandidateResult:
    """Return a candidate with its verdict beside the chosen one, which is `kept`, an alternative or the caller's."""
    is_ours = any(chosen.patch is each.patch for each in (*filter(None, [kept]), *alternatives))
    if not is_ours and candidate.verdict.outcome in ("verified", "superseded"):
        return reject(candidate, "another candidate was chosen")
    if chosen.verdict.outcome == "verified":
        return mark_superseded(candidate)
    if candidate.verdict.outcome == "verified":
        return reject(candidate, "another has stronger evidence, and what it leads to has a fix of its own")
    return candidate


def _within_time(patches: Iterator[Patch]) -> Iterator[Patch]:
    """Yield the candidates that are left, as many as the rules produce within the time limit."""
    deadline = time.monotonic() + MOMENT
    for patch in islice(patches, MOST):
        yield patch
        if time.monotonic() > deadline:
            return


def _never_run(
    kept: CandidateResult | None, rest: Sequence[CandidateResult], left: Sequence[Patch], rejected: Sequence[Rejected]
) -> Iterator[Rejected]:
    """Yield the candidates that were never run, each with the reason."""
    tried = [candidate.patch for candidate in (*filter(None, [kept]), *rest)]
    for patch in left:
        if any(patch is each for each in tried):
            continue
        if kept is None or kept.verdict.outcome != "verified" or len(tried) >= CANDIDATES:
            yield Rejected(patch, f"not tried: {len(tried)} candidates were tried before it, and no more are")
        elif patch.rank[:1] > kept.patch.rank[:1]:
            yield Rejected(patch, f"not tried: {kept.patch.rule} has stronger evidence, and its candidate holds")
        elif patch.rule != kept.patch.rule:
            yield Rejected(patch, f"not tried: {kept.patch.rule} takes precedence, and its candidate holds")
        else:
            yield Rejected(patch, "not tried: an earlier candidate of the rule holds")
    yield from rejected


def _confirmed_findings(diagnoses: Sequence[Diagnosis], candidates: Sequence[CandidateResult]) -> list[Diagnosis]:
    """Return the diagnoses with a candidate in the source; all of them if none has one."""
    tried = {candidate.patch.rule for candidate in candidates}
    return [each for each in diagnoses if each.rule in tried] or list(diagnoses)
