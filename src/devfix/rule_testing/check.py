"""Check one case of a rule's page: the failure told, the first change, every change run, and the rest after it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

from devfix.diagnosis.diagnose import diagnose
from devfix.diagnosis.propose import propose
from devfix.execution import SEED, TracedRunner
from devfix.execution.device_matrix import worlds_to_verify
from devfix.model import NO_COUNTS, CountRequest, Diagnosis, Failure, Outcome, Patch, Run, Safety, World
from devfix.registry import Rule
from devfix.rule_testing.case import Case
from devfix.rule_testing.format import differences, is_told, tell, tell_run
from devfix.rule_testing.results import Result, Trouble
from devfix.sdk import Sources
from devfix.sdk.trace.sites import locations_without_scope
from devfix.verification.candidate import CandidateResult
from devfix.verification.verifier import Verifier


def check(rule: Rule, case: Case, observer: TracedRunner) -> Result:
    """Run a case and judge what the rule makes of it, with the stages and the verdict that a repair uses."""
    run = observer.run(case.world, fresh=False)
    failure = run.failure if run.outcome is Outcome.FAILED else None
    if case.failure is None and run.outcome is Outcome.CLEAN:
        return Result(rule.id, case, ())
    if case.failure is None or failure is None:
        what = "does not fail on a device" if case.failure is not None else "has no `failure`, but does not run clean"
        return Result(rule.id, case, (Trouble(what, tell_run(run)),))
    told = tell(failure)
    troubles = list(_compare_failure(case, told))
    run = replace(run, failure=second_look(case, observer, failure))
    assert run.failure is not None
    ready = rule.with_options(case.options)
    sources = _sources(case)
    diagnoses = diagnose(run.failure, [ready], sources)
    patches = list(propose(diagnoses, {rule.id: ready}, sources))
    if not troubles:  # what becomes of another failure than the page speaks of says nothing of the page
        troubles = [*map(Trouble, sources.notes), *_judged(case, observer, run, diagnoses, patches)]
    first = patches[0] if patches else None
    return Result(
        rule=rule.id,
        case=case,
        troubles=tuple(troubles),
        told=told,
        after=_files(case, first) if first else None,
        safety=first.safety if first and case.after is not None else None,
    )


def _sources(case: Case) -> Sources:
    def search(texts: Sequence[str]) -> list[str]:
        return [path for path, data in sorted(case.before.items()) if any(text.encode() in data for text in texts)]

    return Sources(case.before.get, search)


def _compare_failure(case: Case, told: str) -> Iterator[Trouble]:
    if not case.failure:
        yield Trouble("the failure is not told yet: --update writes it", told)
    elif not is_told(case.failure, told):
        yield Trouble(
            "the failure is another than the page tells", f"the page says:\n{case.failure}\nthe program says:\n{told}"
        )


def second_look(case: Case, observer: TracedRunner, failure: Failure) -> Failure:
    """The failure with the scopes that only a second look can see, as a repair has them."""
    watch = list(locations_without_scope(failure))
    if not watch:
        return failure
    again = observer.run(case.world, watch=watch, fresh=False)
    return replace(again.failure, scopes=again.watched) if again.failure else failure


def _judged(
    case: Case, observer: TracedRunner, run: Run, diagnoses: Sequence[Diagnosis], patches: Sequence[Patch]
) -> Iterator[Trouble]:
    if case.after is None:
        for patch in patches[:1]:
            shown = differences(case.before, _files(case, patch), "before", "change")
            yield Trouble(f"must be left alone, but the rule would: {patch.title}", shown)
        return
    if not diagnoses:
        yield Trouble("is not repaired: `diagnose` blames nothing")
        return
    if not patches:
        yield Trouble("is not repaired: `propose` yields no change", f"blamed: {diagnoses[0].finding.reason}")
        return
    made = _files(case, patches[0])
    if made != case.after_all:
        yield Trouble(
            "the first change is not `after`", differences(case.after_all, made, "after, on the page", "the rule's")
        )
    with ThreadPoolExecutor(1) as pool:
        verifier = _verifier(case, observer, run)
        for number, patch in enumerate(patches):
            candidate = verifier.run_on_failing_world(patch, diagnoses[0])
            if not number and candidate.verdict.outcome == "verified":
                candidate = verifier.verify_on_all_worlds(candidate, pool)
            yield from _verdict(case, patch, candidate)


def _verifier(case: Case, observer: TracedRunner, run: Run) -> Verifier:
    done: dict[tuple[World, tuple[bytes, ...], CountRequest, bool], Run] = {}

    def once(
        world: World,
        files: Mapping[str, bytes],
        fresh: bool = False,
        reach: CountRequest = NO_COUNTS,
        seed: int | None = None,
    ) -> Run:
        # A verdict asks for a second run in the first world, against chance; a case's program fails always. Runs with a
        # seed are compared with one another, to see what repeats: each of them is made.
        if seed is not None:
            return observer.run(world, files, fresh=False, reach=reach, seed=seed)
        key = (world, tuple(files[name] for name in sorted(files)), reach, fresh and files == case.before)
        if key not in done:
            done[key] = observer.run(world, files, fresh=False, reach=reach)
        return done[key]

    def baseline(world: World) -> Run:
        return once(world, case.before, True)

    return Verifier(once, run, case.before, _worlds(case.world), baseline, seeded=partial(once, seed=SEED))


def _worlds(home: World) -> list[World]:
    """The worlds of a repair that tell most: the case's own, none, and the last of two GPUs current."""
    every = worlds_to_verify(home, 0)
    return [world for world in every if world == home or world.kind == "cpu" or world.current]


def _verdict(case: Case, patch: Patch, candidate: CandidateResult) -> Iterator[Trouble]:
    # A change that a rule is unsure of is a guess that only a run can judge; a repair drops it, as it would here.
    if candidate.verdict.outcome == "verified" or patch.safety == Safety.UNSURE:
        return
    shown = differences(case.before, _files(case, patch), "before", "change")
    ending = f"{tell_run(candidate.run)}\n" if candidate.run.outcome is not Outcome.CLEAN else ""
    yield Trouble(f"a change does not hold: {patch.title}: {candidate.verdict.reason}", f"{ending}{shown}")


def _files(case: Case, patch: Patch) -> dict[str, bytes]:
    return {**case.before, **{edit.path: edit.after for edit in patch.edits}}
