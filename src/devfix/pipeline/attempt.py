"""One failure -> what mends it: looked at closely, diagnosed, and every candidate run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from devfix.diagnosis.diagnose import diagnose
from devfix.diagnosis.propose import propose
from devfix.diagnosis.similar_code import advise
from devfix.execution.device_matrix import worlds_to_verify
from devfix.model import CountRequest, Diagnosis, Failure, Fix, Patch, Rejected, Repair, Run, World
from devfix.pipeline.accept_numbers import converted
from devfix.pipeline.all_uses import extend_to_all_uses
from devfix.pipeline.other_commands import OtherCommands
from devfix.pipeline.session import Session
from devfix.registry import Rule
from devfix.sdk import Sources
from devfix.sdk.trace.sites import locations_without_scope
from devfix.verification.candidate import CandidateResult, dropped, in_vain
from devfix.verification.objections.code import Code
from devfix.verification.objections.collect import Objection, objections
from devfix.verification.verifier import CANDIDATES, Verifier

MOMENT, MOST = 2.0, 200  # seconds, and candidates, for the list of those that were not tried
Baseline = Callable[[World], Run]  # how the program does in a world before the patch in question


@dataclass(frozen=True)
class Attempt:
    """What was found for one failure: the trials to go on with, best first, and how each is told.

    `confirm` judges one of them in the other worlds, `attempt` a patch that no rule has proposed for this failure.
    """

    ways: tuple[CandidateResult, ...]
    told: Callable[[CandidateResult | None], Repair]
    confirm: Callable[[CandidateResult], CandidateResult]
    attempt: Callable[[Patch], CandidateResult]


class AttemptBuilder:
    """Finds the steps of one repair."""

    def __init__(self, session: Session, rules: Sequence[Rule], baseline: Baseline) -> None:
        self.session, self.rules, self._baseline = session, rules, baseline
        self.others = OtherCommands(session, session.other_seconds)

    def build(self, run: Run) -> Attempt | None:
        """Find what mends the failure of a run; None where it does not come again."""
        session = self.session
        session.progress("looking closer at where the tensors come from")
        with session.timed("look"):
            looked = self._second_look(run)
        if looked is None or looked.failure is None:
            return None
        sources = session.sources()
        diagnoses = diagnose(looked.failure, self.rules, sources, session.notes)
        rejected: list[Rejected] = []
        known = {rule.id: rule for rule in self.rules}
        patches = propose(diagnoses, known, sources, session.notes, rejected=rejected)
        worlds = worlds_to_verify(run.world, session.gpus_seen)
        given = (session.run, looked, session.files, worlds, self._baseline)
        review, tell = self._review(looked.failure), session.progress.candidates
        verifier = Verifier(*given, seeded=session.run_seeded, review=review, tell=tell)
        session.progress("trying candidates" if diagnoses else "no rule knows this failure")
        with session.timed("verify"):
            kept, rest = verifier.select_best(patches, diagnoses)
            if kept is None and not verifier.is_flaky:
                kept = self._extended(verifier, rest, diagnoses) or self._converted(verifier, rest, diagnoses)
        with session.timed("list"):
            untried = tuple(_untried(kept, rest, [*verifier.untried, *_within_time(patches)], rejected))
        session.notes += [*verifier.flaky, *sources.notes]
        ways = [trial for trial in rest if kept and _is_other_way(trial, kept)]
        ways.sort(key=lambda trial: trial.verdict.outcome != "holds")

        def told(chosen: CandidateResult | None) -> Repair:
            every = [*filter(None, [kept]), *rest]
            beside = [trial if chosen is None else _beside(chosen, trial) for trial in every if trial is not chosen]
            return Repair(
                looked.failure or run.failure,  # type: ignore[arg-type]
                tuple(_confirmed_findings(diagnoses, every)),
                self._fix(chosen, True) if chosen else None,
                tuple(self._fix(trial) for trial in beside if chosen is None or trial.patch is not chosen.patch),
                untried=untried,
            )

        def attempt(patch: Patch) -> CandidateResult:
            known = next((each for each in diagnoses if each.rule == patch.rule), diagnoses[0])
            return verifier.run_on_failing_world(patch, known)

        return Attempt((kept, *ways) if kept else (), told, verifier.confirm, attempt)

    def _review(self, failure: Failure) -> Callable[[Patch, Mapping[str, bytes]], list[Objection]]:
        session = self.session

        def review(patch: Patch, files: Mapping[str, bytes]) -> list[Objection]:
            found = objections(patch, failure, Code(files, session.repository.content, session.repository.containing))
            if any(each.strength == "strong" for each in found):
                return found  # nothing that runs could save it
            ran = [*self.others.objections(patch, files, failure), *found]
            return sorted(ran, key=lambda each: each.strength)

        return review

    def _extended(
        self, verifier: Verifier, trials: Sequence[CandidateResult], diagnoses: Sequence[Diagnosis]
    ) -> CandidateResult | None:
        """A change that mends every use of the tensor, where each candidate only moved the crash to the next use."""
        session, rules = self.session, {rule.id: rule for rule in self.rules}
        known = {each.rule: each for each in diagnoses}

        def proposed(trial: CandidateResult) -> Iterator[Patch]:
            failure, rule = trial.verdict.next_failure, rules[trial.patch.rule]
            sources = Sources(partial(session.read, trial.files), session.repository.containing)
            found = diagnose(failure, [rule], sources, session.notes) if failure is not None else []
            return propose(found, rules, sources, session.notes)

        found = extend_to_all_uses(
            trials, proposed, lambda patch: verifier.run_on_failing_world(patch, known[patch.rule])
        )
        confirmed = verifier.confirm(found) if found is not None else None
        return confirmed if confirmed is not None and confirmed.verdict.outcome in ("holds", "moved") else None

    def _converted(
        self, verifier: Verifier, trials: Sequence[CandidateResult], diagnoses: Sequence[Diagnosis]
    ) -> CandidateResult | None:
        """A change that takes numbers too, where all that speaks against a move is that some code gives them."""
        known = {each.rule: each for each in diagnoses}
        found = converted(trials, lambda patch: verifier.run_on_failing_world(patch, known[patch.rule]))
        confirmed = verifier.confirm(found) if found is not None else None
        return confirmed if confirmed is not None and confirmed.verdict.outcome in ("holds", "moved") else None

    def _second_look(self, run: Run) -> Run | None:
        """The same run once more, recording the scopes that the first look could not see.

        It also shows whether the failure comes again: None for one that does not, which is flaky and left alone.
        """
        assert run.failure is not None
        watch = list(locations_without_scope(run.failure))
        reach = CountRequest((run.failure.at,) if run.failure.at else ())
        again = self.session.observer.run(
            run.world, self.session.files, watch=watch, reach=reach, fresh=False, calls=self.session.writes_tests
        )
        told = again.failure
        if told is None or (told.kind, told.op) != (run.failure.kind, run.failure.op):
            said = f"a second run of the same program {again.outcome.value}"
            self.session.notes.append(f"the failure is flaky: {said}; it is left alone")
            return None
        run = replace(run, failure=replace(run.failure, calls=told.calls, test=told.test))
        assert run.failure is not None
        failure = replace(run.failure, scopes=again.watched)
        return replace(
            run, failure=failure, operator_counts=again.operator_counts, operator_totals=again.operator_totals
        )

    def _fix(self, trial: CandidateResult, kept: bool = False) -> Fix:
        session, patch = self.session, trial.patch
        before = {edit.path: edit.before for edit in patch.edits}
        diff = session.worktrees.diff(before, {edit.path: edit.after for edit in patch.edits})
        if not kept:
            return Fix(patch, trial.verdict, diff)
        neighbours = advise(patch, partial(session.read, trial.files), session.repository.containing)
        return Fix(patch, trial.verdict, diff, tuple(neighbours))


def _is_other_way(trial: CandidateResult, kept: CandidateResult) -> bool:
    """Whether a trial beside one that only got further holds, or got further by an edit at another place."""
    places = [{(edit.path, edit.line) for edit in each.patch.edits} for each in (trial, kept)]
    if kept.verdict.outcome != "moved":
        return False
    return trial.verdict.outcome == "holds" or (trial.verdict.outcome == "moved" and places[0].isdisjoint(places[1]))


def _beside(chosen: CandidateResult, trial: CandidateResult) -> CandidateResult:
    """A trial as it is told beside the one that was chosen."""
    if chosen.verdict.outcome == "holds":
        return in_vain(trial)
    if trial.verdict.outcome == "holds":
        return dropped(trial, "another has stronger evidence, and what it leads to has a fix of its own")
    return trial


def _within_time(patches: Iterator[Patch]) -> Iterator[Patch]:
    """Yield the candidates that are left, to be told of: as many as come in a moment."""
    deadline = time.monotonic() + MOMENT
    for patch in islice(patches, MOST):
        yield patch
        if time.monotonic() > deadline:
            return


def _untried(
    kept: CandidateResult | None, rest: Sequence[CandidateResult], left: Sequence[Patch], rejected: Sequence[Rejected]
) -> Iterator[Rejected]:
    """Yield the candidates that were never run, each with the reason."""
    tried = [trial.patch for trial in (*filter(None, [kept]), *rest)]
    for patch in left:
        if any(patch is each for each in tried):
            continue
        if kept is None or kept.verdict.outcome != "holds" or len(tried) >= CANDIDATES:
            yield Rejected(patch, f"not tried: {len(tried)} candidates were tried before it, and no more are")
        elif patch.rank[:1] > kept.patch.rank[:1]:
            yield Rejected(patch, f"not tried: {kept.patch.rule} has stronger evidence, and its candidate holds")
        elif patch.rule != kept.patch.rule:
            yield Rejected(patch, f"not tried: {kept.patch.rule} takes precedence, and its candidate holds")
        else:
            yield Rejected(patch, "not tried: an earlier candidate of the rule holds")
    yield from rejected


def _confirmed_findings(diagnoses: Sequence[Diagnosis], trials: Sequence[CandidateResult]) -> list[Diagnosis]:
    """The diagnoses for which the source had something to change; all where it had nothing for any."""
    tried = {trial.patch.rule for trial in trials}
    return [each for each in diagnoses if each.rule in tried] or list(diagnoses)
