"""The report of a repair as a page."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

from devfix.model import World
from devfix.report.gpus_needed import gpus_sentence
from devfix.report.plain import tail
from devfix.report.record import OUTCOMES
from devfix.report.render.html.journeys import bars, journey, module_tree
from devfix.report.render.html.page import page
from devfix.report.render.pull_request.summary import reproduce
from devfix.report.render.terminal.fix import copies, describe_worlds
from devfix.report.render.terminal.headline import doubts, headline, why_not_sought, world
from devfix.report.types import FixRecord, ReportRecord


def repair_page(data: ReportRecord) -> str:
    """Return the report as one HTML file."""
    run = data.last_run
    shows_output = run and (data.remaining_failure or not data.failures) and not data.obstacle
    return page(
        "repair.html.jinja",
        report=data,
        is_good=data.outcome in ("repaired", "clean"),
        headline=headline(data).plain.split("\n")[0],
        world=world(data.world) if data.world else "",
        doubts=list(doubts(data)),
        failures=[_failure(data, index) for index in range(len(data.failures))],
        matrix=list(_matrix(data)),
        trees=[module_tree(each.modules) for each in data.device_maps],
        bars=bars(data.device_maps),
        commands=list(_commands(data)),
        notes=data.notes,
        needed=gpus_sentence(data.gpus_needed) if data.gpus_needed and not data.notes else "",
        output=tail(run.stderr or run.stdout, 40) if run and shows_output else "",
        said=OUTCOMES,
    )


def _failure(data: ReportRecord, index: int) -> dict[str, Any]:
    failure = data.failures[index]
    fixes = [fix for fix in data.fixes if fix.failure == index]
    return {
        "number": index + 1,
        "record": failure,
        "operands": [(operand, list(journey(operand, failure))) for operand in failure.operands],
        "fixes": [_fix(fix) for fix in fixes],
        "unrepaired": why_not_sought(data, index) or "Not repaired.",
        "not_kept": [each for each in data.not_kept if each.failure == index],
    }


def _fix(fix: FixRecord) -> dict[str, Any]:
    test = fix.regression_test
    return {
        "record": fix,
        "copies": copies(fix.verdict.transfers),
        "test": test,
        "seen": describe_worlds(test) if test else "",
    }


def _matrix(data: ReportRecord) -> Iterator[tuple[str, list[str]]]:
    """Yield each world with its result without the fixes, and after each of them; "" where it was not run."""
    if not data.fixes:
        return
    home = World(data.world.kind, data.world.gpus, data.world.current, data.world.device).name if data.world else ""
    before = {home: "failed", **data.fixes[0].verdict.before}
    names = dict.fromkeys(name for fix in data.fixes for name in fix.verdict.worlds)
    for name in names:
        yield name, [before.get(name, ""), *(fix.verdict.worlds.get(name, "") for fix in data.fixes)]


def _commands(data: ReportRecord) -> Iterator[tuple[str, str]]:
    """Yield what a person may want to type: the purpose and the command."""
    if data.branch:
        branch = shlex.quote(data.branch)
        yield "Review the branch", f"git diff HEAD...{branch}"
        yield "Merge it", f"git merge {branch}"
        yield "Delete it", f"git branch -D {branch}"
    if data.applied:
        yield "Review what was applied", "git diff"
        yield "Undo it", "devfix undo"
    if data.command:
        yield "Repeat the repair without changing anything", reproduce(data)
