"""Repair one failure: collect its scopes, diagnose it, and run every candidate."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

from devfix.diagnosis.diagnose import diagnose
from devfix.diagnosis.propose import propose
from devfix.diagnosis.similar_code import similar_sites
from devfix.execution.device_matrix import worlds_to_verify
from devfix.model import CountRequest, Failure, Fix, Patch, Rejected, Repair, Run, World
from devfix.notes import Notes
from devfix.pipeline.opening.parallel_runs import MOST as MOST_RUNS
from devfix.pipeline.opening.parallel_runs import parallel_runs
from devfix.pipeline.opening.session import JOBS, Session
from devfix.pipeline.regression_tests import begin_regression_test
from devfix.pipeline.searching.choices import VerifiedCandidates
from devfix.pipeline.searching.extend import Extension
from devfix.pipeline.searching.other_commands import OtherCommands
from devfix.pipeline.searching.proposal import Proposal
from devfix.pipeline.searching.tried import TriedCandidates
from devfix.registry import Rule
from devfix.sdk import Sources
from devfix.sdk.trace.sites import locations_without_scope
from devfix.verification.candidate import CandidateResult
from devfix.verification.evidence import Objection
from devfix.verification.objections.code import Code
from devfix.verification.objections.collect import objections
from devfix.verification.requests import Expect, expected_requests
from devfix.verification.verifier import Verifier

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
        worlds = worlds_to_verify(run.world, session.gpus_seen, session.claimed)
        expect = session.expect if session.target.until is None else None
        looked = self._look(run, worlds if expect is not None else ())
        if looked is None or looked.failure is None:
            session.expect(())
            return None
        proposal = Proposal(looked.failure, self.rules, session.sources())
        verifier, queue = self._verifier(looked, looked.failure, worlds, expect, proposal)
        session.progress("trying candidates" if proposal.diagnoses else "no rule knows this failure")
        with session.seconds.measure("verify"):
            tried = self._try(queue, verifier, proposal)
        with session.seconds.measure("list"):
            left = [*verifier.untried, *proposal.draw_rest()]
            untried = (*tried.never_run(left), *proposal.rejected)
        session.notes.add(*verifier.flaky)
        return Attempt(
            (tried.kept, *tried.alternatives) if tried.kept else (),
            partial(self._summarize, looked.failure, proposal, tried, untried),
            verifier.confirm,
            lambda patch: verifier.run_on_failing_world(patch, proposal.diagnosis_of(patch)),
            VerifiedCandidates(verifier, tried.kept, tried.rest, left, proposal.diagnosis_of) if tried.kept else None,
        )

    def _look(self, run: Run, expected: Sequence[World]) -> Run | None:
        """Return the second look at a failure, beside which the first candidate is begun in the `expected` worlds."""
        session, until = self.session, self.session.target.until
        if until is None or not (until.url or until.seconds):  # a server needs its port, and time must not be short
            limit = session.observer.limits.memory * JOBS  # of the warm process, in which most of them take place
            session.slots.widen(parallel_runs(run, session.slots.count, limit))
        with session.seconds.measure("look"), ThreadPoolExecutor(1) as pool:
            look = pool.submit(self._second_look, run)
            if expected:
                self._expect_first(run, expected)
            return look.result()

    def _verifier(
        self, looked: Run, failure: Failure, worlds: Sequence[World], expect: Expect | None, proposal: Proposal
    ) -> tuple[Verifier, Iterator[Patch]]:
        """Return what verifies the candidates, and these; the regression test of one that holds is begun beside it."""
        session = self.session
        tests = partial(begin_regression_test, session, failure, looked.seconds)
        queue: Iterator[Patch] = proposal.patches
        if session.slots.count > JOBS and (first := next(queue, None)) is not None:  # a slot is free already
            tests(first)
            queue = chain([first], queue)

        def promise(patch: Patch) -> None:
            tests(patch)
            proposal.draw_ahead()

        verifier = Verifier(
            session.run,
            looked,
            session.files,
            worlds,
            self._baseline,
            seeded=session.run_seeded,
            review=self._review(failure),
            report_progress=session.progress.candidates,
            steps=session.steps,
            expect=expect,
            threads=MOST_RUNS,
            promising=promise,
        )
        return verifier, queue

    def _try(self, queue: Iterator[Patch], verifier: Verifier, proposal: Proposal) -> TriedCandidates:
        """Run the candidates, and what extends them where none of them is verified, or only a guess."""
        kept, rest = verifier.select_best(queue, proposal.diagnoses)
        proposal.patches.end()
        if verifier.is_flaky:
            return TriedCandidates(kept, rest)
        extension = Extension(self.session, verifier, self.rules, proposal.diagnoses)
        if kept is None or kept.verdict.outcome != "verified":
            better = extension.better(kept, rest)
        else:
            better = None
            with self.session.optional("a candidate with evidence was extended, in place of a guess"):
                better = extension.stronger(kept, rest)
        return TriedCandidates(better, [*filter(None, [kept]), *rest]) if better else TriedCandidates(kept, rest)

    def _summarize(
        self,
        failure: Failure,
        proposal: Proposal,
        tried: TriedCandidates,
        untried: Sequence[Rejected],
        chosen: CandidateResult | None,
    ) -> Repair:
        return Repair(
            failure,
            tried.findings(proposal.diagnoses),
            self._fix(chosen, True) if chosen else None,
            tuple(self._fix(candidate) for candidate in tried.beside(chosen)),
            untried=tuple(each for each in untried if chosen is None or each.patch is not chosen.patch),
            decisions=proposal.decisions,
        )

    def _review(self, failure: Failure) -> Callable[[Patch, Mapping[str, bytes]], list[Objection]]:
        repository = self.session.repository
        parsed: dict[tuple[str, bytes], ast.Module | None] = {}

        def review(patch: Patch, files: Mapping[str, bytes]) -> list[Objection]:
            code = Code(files, repository.content_if_any, repository.containing, parsed)
            found = objections(patch, failure, code)
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
        diff = session.diff_of(patch)
        if not kept:
            return Fix(patch, candidate.verdict, diff)
        similar = similar_sites(patch, partial(session.read, candidate.files), session.repository.containing)
        return Fix(patch, candidate.verdict, diff, tuple(similar))
