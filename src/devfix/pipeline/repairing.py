"""The repair loop: run, diagnose, propose, verify, keep; until the program runs clean, is stuck, or enough is done."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from devfix.catalog.asked import rules_for
from devfix.model import Fix, Guard, Outcome, Repair, Report, Run
from devfix.pipeline.bounding import Bounds
from devfix.pipeline.doubting import doubted
from devfix.pipeline.foreign import account
from devfix.pipeline.guarding import guarded
from devfix.pipeline.loop import Loop
from devfix.pipeline.opening import Asked, opened
from devfix.pipeline.session import Session
from devfix.report.message import commit_message, test_message

MAX_FIXES = 10
PLAIN = Bounds()


def repair(
    path: str | Path,
    *,
    run: str | None = None,
    world: str = "auto",
    gpus: int | None = None,
    python: str | None = None,
    exclude: Sequence[str] = (),
    timeout: float | None = None,
    max_fixes: int | None = None,
    branch: str | None = None,
    dry_run: bool = False,
    rules: Sequence[str | Path] = (),
    try_pins: bool = False,
    test: bool = True,
    bounds: Bounds = PLAIN,
    progress: Callable[[str], None] | None = None,
) -> Report:
    """Find, prove and fix the device failures of the program in the repository at `path`.

    `gpus` (default 1) is the size of the world, `timeout` (default 600) counts seconds for one run of the program.
    `dry_run` leaves no branch. `rules` names folders of local rules, which are code and run in this process.
    `bounds` says what the program may take of the machine, and whether it runs in a sandbox.
    `test` writes a regression test for each fix, where the repository has tests that pytest runs.
    `try_pins` looks for a release of a dependency at fault that runs clean.
    Raises UserError for wrong usage, before anything is run.
    """
    began = time.monotonic()
    asked = Asked(run, None if world == "auto" else world, gpus, python, tuple(exclude), timeout, branch, test, bounds)
    with opened(path, asked, progress) as session:
        catalog = rules_for(session.config, tuple(map(Path, rules)))
        session.notes += catalog.troubles
        loop = Loop(session, max_fixes or session.config.max_fixes or MAX_FIXES, catalog.rules)
        final = loop.repair()
        foreign = account(session, final, loop.rules, try_pins) if loop.is_stuck else None
        with session.timed("doubt"):
            session.notes += doubted(session, catalog.rules, final)
        if loop.fixes and not loop.is_stuck:
            with session.timed("guard"):
                loop.repairs = guarded(session, loop.repairs, final.seconds)
        commits: list[str] = []
        name = ""
        # A fix that only led to a failure which nothing mends has not been seen to be right.
        if loop.fixes and not dry_run and not loop.is_stuck:
            with session.timed("branch"):
                commits, name = _publish(session, loop, branch)
        session.seconds["total"] = round(time.monotonic() - began, 3)
        return Report(
            outcome="not-yours" if foreign else _outcome(loop, final),
            world=final.world,
            command=session.command_text,
            root=str(session.repository.root),
            commit=session.repository.commit,
            repairs=tuple(loop.repairs),
            branch=name,
            commits=tuple(commits),
            diff=session.diff(),
            seconds=dict(session.seconds),
            notes=tuple(dict.fromkeys(session.notes)),
            last_run=final,
            foreign=foreign,
            subfolder=session.target.subfolder,
        )


def _outcome(loop: Loop, final: Run) -> str:
    if final.outcome is Outcome.CLEAN:
        return "repaired" if loop.fixes else "clean"
    if final.outcome in (Outcome.TIMEOUT, Outcome.SIGNAL, Outcome.NOT_STARTED):
        return "error"
    return "unrepaired"


def _publish(session: Session, loop: Loop, branch: str | None) -> tuple[list[str], str]:
    """Write one commit for each fix and bring them into the repository as a branch."""
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


def _tests(repairs: Sequence[Repair], fix: int) -> Iterator[tuple[Guard, Fix]]:
    """Yield the tests that pass from a fix on, each with the fix that it guards."""
    for repair in repairs:
        if repair.fix and repair.guard and repair.guard.since == fix:
            yield repair.guard, repair.fix


def _slug(fix: Fix) -> str:
    stem = Path(fix.patch.edits[0].path).stem.strip("_").lower() or "fix"
    return f"{fix.patch.rule.split('/')[-1]}-{stem}".replace("_", "-")
