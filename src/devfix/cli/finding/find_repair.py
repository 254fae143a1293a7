"""Repair what a search has found: one branch for all confirmed causes or one for each, with regression tests."""

from __future__ import annotations

import shlex
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from devfix import pipeline
from devfix.cli.repairing.taking import Branches
from devfix.errors import BudgetSpentError
from devfix.find import Cause, FindReport
from devfix.model import Report, WorldChoice
from devfix.notes import Notes
from devfix.report.find_types import CauseFixRecord
from devfix.workspace import Repository

_NAME = "devfix/find"
_SHOWN = 5
Key = tuple[str, str, int, str]


@dataclass(frozen=True)
class RepairPlan:
    """The settings of the repair of causes; `until` is the moment at which what is not repaired is left.

    `world` is the one that was searched. With `silent`, what a function leaves on the host is repaired, too.
    """

    branches: Branches
    python: str | None
    rules: tuple[Path, ...]
    until: float
    world: WorldChoice = WorldChoice.SIMULATED
    silent: bool = True


@dataclass
class Repairs:
    """The results of causes by their keys, the report of each repair, and notes for the user."""

    fixes: dict[Key, CauseFixRecord] = field(default_factory=dict)
    reports: list[Report] = field(default_factory=list)
    notes: Notes = field(default_factory=Notes)


def repair_causes(report: FindReport, plan: RepairPlan, step: Callable[[str], None]) -> Repairs:
    """Repair the confirmed causes of a search that came to its end.

    On one branch each repair starts from the fixes before it: it is verified together with them.
    """
    done = Repairs()
    if report.interrupted:
        return done
    repository = Repository.open(Path(report.root))
    causes = [cause for cause in report.causes if cause.confirmed]
    tip, kept = report.commit, ""
    for number, cause in enumerate(causes, 1):
        title = f"repairing finding {number} of {len(causes)}"
        step(f"{title}: {cause.place.shown}")
        try:
            repair = _repair(cause, plan, report.root, tip, partial(_tell, step, title))
        except BudgetSpentError:
            done.notes.add(_left_to_repair(causes[number - 1 :], len(causes), bool(kept)))
            break
        done.fixes[cause.key] = _fix(repair, kept)
        done.reports.append(repair)
        if plan.branches is Branches.one and repair.commits:
            if kept:
                repository.delete_branch(kept)
            tip, kept = repair.commits[-1], repair.branch
    if kept:
        name = repository.rename_branch(kept, _NAME)
        done.fixes = {key: _on(fix, name) for key, fix in done.fixes.items()}
    return done


def _tell(step: Callable[[str], None], title: str, text: str) -> None:
    step(f"{title}: {text}")


def _left_to_repair(left: Sequence[Cause], count: int, has_fixes: bool) -> str:
    """Return the note on causes that were not repaired in time; `has_fixes`: earlier fixes may have repaired them."""
    shown = ", ".join(cause.place.shown for cause in left[:_SHOWN])
    shown += f" and {len(left) - _SHOWN} more" if len(left) > _SHOWN else ""
    told = f"findings that were not repaired before the budget was over: {len(left)} of {count}"
    also = ", if the fixes have not repaired them as well" if has_fixes else ""
    return f"{told}{also} ({shown}); --budget gives more"


def _repair(cause: Cause, plan: RepairPlan, root: str, commit: str, step: Callable[[str], None]) -> Report:
    """Return the repair of a cause, also of what its function leaves on the host then, if that can be repaired.

    `tensor.numpy()` becomes `tensor.cpu().numpy()`; what the function makes of that and returns goes back to the GPU.
    """
    options = pipeline.RepairOptions(
        run=command_for(cause, cause.options_with_silent if plan.silent else cause.options),
        world=plan.world,
        gpus=1 if cause.is_seen_on_one else 2,
        python=plan.python,
        rules=plan.rules,
        commit=commit,
        budget=plan.until - time.monotonic(),
    )
    repair = pipeline.repair(root, options, step)
    if plan.silent and not cause.is_strict and _is_stuck_at_silent(repair, cause):
        again = replace(options, run=command_for(cause, cause.options), budget=plan.until - time.monotonic())
        repair = pipeline.repair(root, again, step)
    return repair


def _is_stuck_at_silent(repair: Report, cause: Cause) -> bool:
    """Return whether a repair has no fix for what the function of a cause leaves on the host, or met no failure."""
    if repair.commits:
        return False
    if not repair.repairs:
        return True
    last = repair.repairs[-1]
    made = (place for operand in last.failure.operands for place in operand.creation_places)
    is_of_function = any((each.path, each.function) == (cause.place.path, cause.place.function) for each in made)
    at = last.failure.at
    is_cause = at is not None and (at.path, at.line) == (cause.failing.path, cause.failing.line)
    return last.fix is None and is_of_function and not is_cause


def _on(fix: CauseFixRecord, name: str) -> CauseFixRecord:
    """Return a fix with the name of the one branch."""
    return replace(fix, branch=name if fix.branch else "")


def command_for(cause: Cause, options: Sequence[str]) -> str:
    """Return the command that runs the first test of a cause, lifted with some options."""
    collected = [word for word in cause.suite.options if word != "--doctest-ignore-import-errors"]
    return shlex.join(["pytest", "--lift", *options, *collected, cause.tests[0]])


def _fix(report: Report, before: str) -> CauseFixRecord:
    """Return the result of a repair; where the fixes of the branch `before` leave nothing to repair, they hold."""
    fixes = [repair.fix for repair in report.repairs if repair.fix]
    if not fixes and before and report.outcome == "clean":
        return CauseFixRecord(diff="", verdict="verified", branch=before, commit=report.commit)
    tests = [repair.regression_test.path for repair in report.repairs if repair.regression_test]
    reasons = [repair.no_test_reason for repair in report.repairs if repair.fix and repair.no_test_reason]
    return CauseFixRecord(
        diff=report.diff,
        verdict=fixes[-1].verdict.outcome if fixes else report.outcome,
        branch=report.branch,
        commit=report.commits[0] if report.commits else "",
        reason="" if report.commits else _why_not(report),
        test=tests[0] if tests else "",
        no_test_reason=reasons[0] if reasons and report.commits and not tests else "",
    )


def _why_not(report: Report) -> str:
    """Return why a repair kept no fix of a finding."""
    if report.obstacle is not None:
        return report.obstacle.message
    if report.repairs:
        tried = report.repairs[-1].rejected
        if not tried:
            return "no rule proposed a fix"
        reasons = Counter(fix.verdict.reason for fix in tried if fix.verdict.reason)
        first = f"; {reasons.most_common(1)[0][0]}" if reasons else ""
        return f"{len(tried)} candidate{'s' if len(tried) > 1 else ''} tried, none verified{first}"
    run = report.last_run
    ended = (run.stderr.strip() or run.stdout.strip()) if run is not None else ""
    last = ended.splitlines()[-1] if ended else f"its outcome was {report.outcome}"
    return f"`{report.command}` did not show it again: {last}"
