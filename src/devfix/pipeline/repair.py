"""Repair a program: open a session, search for fixes, add tests, and write a branch and a report."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from devfix.model import Fix, Outcome, RegressionTest, Repair, Report, Run
from devfix.model.report import ReportOutcome
from devfix.pipeline.combine import combine_fixes
from devfix.pipeline.obstacles import obstacle_of
from devfix.pipeline.options import RepairOptions
from devfix.pipeline.regression_tests import add_regression_tests
from devfix.pipeline.search import Search
from devfix.pipeline.session import Session
from devfix.pipeline.setup import open_session
from devfix.pipeline.third_party import find_dependency_fault
from devfix.pipeline.warnings import confirmed_warnings
from devfix.registry.selection import rules_for
from devfix.report.render.commit_message import commit_message, test_message


def repair(
    path: str | Path, options: RepairOptions | None = None, progress: Callable[[str], None] | None = None
) -> Report:
    """Find and fix the device failures of the program in the repository at `path`, and verify the fixes.

    `progress` is called with each step as it begins. Raises UserError for wrong usage, before anything is run.
    """
    began = time.monotonic()
    options = options or RepairOptions()
    with open_session(path, options, progress) as session:
        catalog = rules_for(session.config, tuple(map(Path, options.rules)))
        session.notes.add(*catalog.troubles)
        loop = Search(session, options.max_fixes_in(session.config), catalog.rules)
        final = loop.repair()
        loop.repairs = combine_fixes(loop.repairs, session.worktrees.diff)
        session.notes.add(*(f"{failure}; to repair that too: --include-handled" for failure in final.caught[:3]))
        if final.logged is not None:
            loop.repairs.append(Repair(final.logged, (), None))
        foreign = (
            find_dependency_fault(session, final, loop.rules, options.find_working_version) if loop.is_stuck else None
        )
        with session.timed("doubt"):
            session.notes.add(*confirmed_warnings(session, catalog.rules, final))
        keeps = bool(loop.fixes) and (options.partial or not loop.is_stuck)
        if keeps:
            with session.timed("guard"):
                loop.repairs = add_regression_tests(session, loop.repairs, final.seconds)
        if loop.fixes and not keeps:
            count = f"{len(loop.fixes)} fix{'es' if len(loop.fixes) > 1 else ''}"
            session.notes.add(f"nothing is kept, since a failure remains; --partial keeps the {count} proven before it")
        commits: list[str] = []
        name = ""
        # A fix that leads to a failure without a fix is verified for its own failure only: --partial keeps it.
        if keeps and not options.dry_run:
            with session.timed("branch"):
                commits, name = _publish(session, loop, options.branch)
        session.seconds["total"] = round(time.monotonic() - began, 3)
        return Report(
            outcome=_outcome(loop, final, foreign is not None, options.partial),
            world=final.world,
            command=session.command_text,
            root=str(session.repository.root),
            commit=session.repository.commit,
            repairs=tuple(loop.repairs),
            branch=name,
            commits=tuple(commits),
            diff=session.diff(),
            seconds=dict(session.seconds),
            notes=tuple(session.notes),
            last_run=final,
            dependency_fault=foreign,
            subfolder=session.target.subfolder,
            gpus_needed=session.gpus_needed,
            others=loop.others,
            obstacle=obstacle_of(session, final),
        )


def _outcome(loop: Search, final: Run, is_foreign: bool, partial: bool) -> ReportOutcome:
    if loop.is_stuck and loop.fixes and partial:
        return "partial"
    if is_foreign:
        return "dependency-fault"
    if final.outcome is Outcome.CLEAN:
        if final.logged is not None:
            return "unrepaired"
        return "repaired" if loop.fixes else "clean"
    if final.outcome is Outcome.OTHER and loop.fixes and loop.fixes[-1].verdict.outcome == "verified":
        return "repaired"  # the remaining failure also occurs without a GPU
    if final.outcome in (Outcome.TIMEOUT, Outcome.SIGNAL, Outcome.NOT_STARTED, Outcome.UNOBSERVED):
        return "error"
    return "unrepaired"


def _publish(session: Session, loop: Search, branch: str | None) -> tuple[list[str], str]:
    """Write one commit for each fix and create the branch in the repository."""
    commits = []
    for repair in loop.repairs:
        if repair.fix:
            files = {edit.path: edit.after for edit in repair.fix.patch.edits}
            message = commit_message(repair.failure, repair.fix, session.command_text, session.world)
            commits.append(session.worktrees.commit(files, message))
            for guard, guards in _tests(loop.repairs, loop.fixes.index(repair.fix)):
                commits.append(session.worktrees.commit({guard.path: guard.text.encode()}, test_message(guard, guards)))
    name = branch or f"devfix/{_slug(loop.fixes[0])}"
    return commits, session.worktrees.publish(name, exactly=branch is not None)


def _tests(repairs: Sequence[Repair], fix: int) -> Iterator[tuple[RegressionTest, Fix]]:
    """Yield the tests that pass from a fix on, each with the fix that it tests."""
    for repair in repairs:
        if repair.fix and repair.regression_test and repair.regression_test.passes_after_fix == fix:
            yield repair.regression_test, repair.fix


def _slug(fix: Fix) -> str:
    stem = Path(fix.patch.edits[0].path).stem.strip("_").lower() or "fix"
    return f"{fix.patch.rule.split('/')[-1]}-{stem}".replace("_", "-")
