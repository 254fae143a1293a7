"""Check one case of a rule's page: its failure, the first change, a run of every change, and other worlds."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

from devfix.execution import SEED
from devfix.execution.device_matrix import worlds_to_verify
from devfix.model import Failure, Outcome, Patch, Run, Safety, World
from devfix.registry import Rule
from devfix.rule_testing.checking.case_runs import CaseRuns
from devfix.rule_testing.checking.format import differences, format_ending, format_failure, matches_failure
from devfix.rule_testing.checking.proposal import Proposal, claimed_by, files_after, proposal_for
from devfix.rule_testing.checking.results import Problem, Result
from devfix.rule_testing.pages.case import Case
from devfix.rule_testing.recording.case_runner import CaseRunner
from devfix.sdk.trace.sites import locations_without_scope
from devfix.verification.candidate import CandidateResult
from devfix.verification.verifier import Verifier


def check(rule: Rule, case: Case, observer: CaseRunner) -> Result:
    """Run a case and check what the rule proposes, with the diagnosis and verification that a repair uses."""
    run = observer.run(case.world)
    failure = run.failure if run.outcome is Outcome.FAILED else None
    if case.failure is None and run.outcome is Outcome.CLEAN:
        return Result(rule.id, case, ())
    if case.failure is None or failure is None:
        what = "does not fail on a device" if case.failure is not None else "has no `failure`, but does not run clean"
        return Result(rule.id, case, (Problem(what, format_ending(run)),))
    text = format_failure(failure)
    problems = list(_compare_failure(case, text))
    run = replace(run, failure=replace(second_look(case, observer, failure), claimed=claimed_by(case)))
    assert run.failure is not None
    proposal = proposal_for(rule, case, run.failure)
    runs = CaseRuns(case, observer)
    if not problems:  # what follows from another failure than the page's does not show anything about the page
        problems = [*map(Problem, proposal.notes), *_judge_changes(case, runs, run, proposal)]
    first = proposal.patches[0] if proposal.patches else None
    return Result(
        rule=rule.id,
        case=case,
        problems=tuple(problems),
        failure_text=text,
        after=files_after(case, first) if first else None,
        safety=first.safety if first and case.after is not None else None,
        why_nothing=proposal.why_nothing,
        remarks=(*proposal.remarks, *runs.remarks()),
        output=proposal.output,
    )


def _compare_failure(case: Case, text: str) -> Iterator[Problem]:
    if not case.failure:
        yield Problem("the page has no failure yet: --update writes it", text)
    elif not matches_failure(case.failure, text):
        yield Problem(
            "the failure is not the one on the page", f"the page says:\n{case.failure}\nthe program says:\n{text}"
        )


def second_look(case: Case, observer: CaseRunner, failure: Failure) -> Failure:
    """Return the failure with the scopes that only a second run can record, as in a repair."""
    watch = list(locations_without_scope(failure))
    if not watch:
        return failure
    again = observer.run(case.world, watch=watch)
    return replace(again.failure, scopes=again.watched) if again.failure else failure


def _judge_changes(case: Case, runs: CaseRuns, run: Run, proposal: Proposal) -> Iterator[Problem]:
    diagnoses, patches = proposal.diagnoses, proposal.patches
    if case.after is None:
        for patch in patches[:1]:
            shown = differences(case.before, files_after(case, patch), "before", "change")
            yield Problem(f"must be left alone, but the rule would: {patch.title}", shown)
        return
    if not diagnoses or not patches:
        blamed = f"blamed: {diagnoses[0].finding.reason}" if diagnoses else ""
        yield Problem(f"is not repaired: {proposal.why_nothing}", blamed)
        return
    made = files_after(case, patches[0])
    if made != case.after_all:
        yield Problem(
            "the first change is not `after`", differences(case.after_all, made, "after, on the page", "the rule's")
        )
    with ThreadPoolExecutor(1) as pool:
        verifier = Verifier(
            runs.once, run, case.before, _worlds(case), runs.baseline, seeded=partial(runs.once, seed=SEED)
        )
        for number, patch in enumerate(patches):
            candidate = verifier.run_on_failing_world(patch, diagnoses[0])
            if not number and candidate.verdict.outcome == "verified":
                candidate = verifier.verify_on_all_worlds(candidate, pool)
            yield from _verdict(case, patch, candidate)


def _worlds(case: Case) -> list[World]:
    """Return the most informative worlds of a repair: the case's own, none, the last of two GPUs, and those claimed."""
    home, claimed = case.world, claimed_by(case)
    every = worlds_to_verify(home, 0, claimed)
    return [each for each in every if each == home or each.kind == "cpu" or each.current or each.device in claimed]


def _verdict(case: Case, patch: Patch, candidate: CandidateResult) -> Iterator[Problem]:
    # An unsure change is a guess that only a run can verify; a repair would reject it here.
    if candidate.verdict.outcome == "verified" or patch.safety == Safety.UNSURE:
        return
    shown = differences(case.before, files_after(case, patch), "before", "change")
    ending = f"{format_ending(candidate.run)}\n" if candidate.run.outcome is not Outcome.CLEAN else ""
    yield Problem(f"a change does not hold: {patch.title}: {candidate.verdict.reason}", f"{ending}{shown}")
