"""The first words of a report, and the last: what came out, and what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from devfix.model import Outcome
from devfix.report.failure_types import WorldRecord
from devfix.report.render.plain import one_line, plain
from devfix.report.types import BehindRecord, ReportRecord, RunRecord

_STYLES = {"repaired": "bold green", "clean": "bold green", "partial": "bold yellow", "not-yours": "bold yellow"}


def headline(data: ReportRecord) -> Text:
    """Return one sentence: what came out, for which command, in which world."""
    words = Text(_sentence(data), style=_STYLES.get(data.outcome, "bold red"))
    for doubt in doubts(data):
        words.append("\n" + doubt, style="bold yellow")
    if obstacle := data.obstacle:
        words.append("\nWhat can be done: " + one_line(obstacle.advice, 400), style="none")
    if data.command:
        words.append("\n" + one_line(data.command), style="bold")
        words.append(f"  on {world(data.world)}" if data.world else "", style="none")
    return words


def world(data: WorldRecord) -> str:
    """Return a world in words: "a simulated GPU", "2 real GPUs, cuda:1 current", "a machine without GPUs"."""
    if data.kind == "cpu" or not data.gpus:
        return "a machine without GPUs"
    number = f"a {data.kind} GPU" if data.gpus == 1 else f"{data.gpus} {data.kind} GPUs"
    return number + (f", cuda:{data.current} current" if data.current else "")


def next_steps(data: ReportRecord) -> Iterator[RenderableType]:
    """Yield what a person may want to type now."""
    if not data.fixes:
        yield from _without_fixes(data)
        return
    if not data.branch and data.outcome not in ("repaired", "partial"):
        yield Text("\nNo branch was made: behind what is shown above comes a failure that nothing mended.")
        return
    if not data.branch:
        yield Text("\nNo branch was made. To have one: run again without --dry-run.")
        return
    branch, count = shlex.quote(plain(data.branch)), len(data.commits)
    yield Text.assemble("\nBranch ", (branch, "bold"), f", {_count(count, 'commit')}. Your checkout is as it was.")
    yield Text(
        f"  git diff HEAD...{branch}    see it\n  git merge {branch}    take it\n  git branch -D {branch}    drop it"
    )


def _without_fixes(data: ReportRecord) -> Iterator[RenderableType]:
    """Yield what can be done where nothing was changed."""
    if data.outcome == "clean" and data.world and data.world.gpus == 1:
        yield Text("\nOn two GPUs it may fail where it runs on one. To try: run again with --gpus 2.")
    elif data.outcome == "unrepaired" and data.failures:
        yield Text(
            "\nNothing was changed. What met, and where it comes from, is shown above: mend it by hand, or teach "
            "devfix with a rule of your own: devfix new-rule NAME (docs/writing-rules.md)."
        )


def doubts(data: ReportRecord) -> Iterator[str]:
    """Yield what speaks against the fixes; where there are none, against a candidate that did mend the failure."""
    for fix in data.fixes:
        for objection in fix.verdict.objections[:3]:
            yield f"Look at `{one_line(fix.title, 100)}`: {one_line(objection, 300)}"
    mended = {fix.failure for fix in data.fixes}
    for fix in data.dropped:
        objections = fix.verdict.objections
        if objections and fix.verdict.outcome == "worse" and fix.failure not in mended:
            mended.add(fix.failure)
            yield f"`{one_line(fix.title, 100)}` would mend it, and was not kept: {one_line(objections[0], 300)}"


def _sentence(data: ReportRecord) -> str:
    outcome, failures, fixes = data.outcome, len(data.failures), len(data.fixes)
    if outcome == "repaired":
        repaired = f"Repaired: {_count(failures, 'device failure')}, {_count(fixes, 'fix', 'fixes')}."
        return repaired + (f" {behind(data.behind)}" if data.behind else "")
    if outcome == "clean":
        return "Nothing to repair: the program runs clean."
    if outcome == "partial":
        return f"Repaired in part: {fixes} of {failures} failures, then one remains."
    if outcome == "not-yours":
        return "Not repaired: the code at fault is not in this repository."
    if data.error:
        return "devfix could not do its work: " + one_line(data.error.message)
    if (obstacle := data.obstacle) and fixes == failures:
        return f"{'Not all repaired' if fixes else 'Not repaired'}: {one_line(obstacle.message, 400)}."
    if fixes:
        return f"Not all repaired: {fixes} of {failures} failures, then one remains."
    if failures:
        return "Not repaired: a device failure remains."
    return "Not repaired: " + _ending(data.last_run)


def behind(failure: BehindRecord) -> str:
    """Return a sentence on the failure of its own in which a repaired program ends."""
    code = f" (exit code {failure.exit_code})" if failure.exit_code is not None else ""
    return f"Then the program fails for a reason of its own, as it does without a GPU{code}."


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _ending(run: RunRecord | None) -> str:
    """Tell how a program ended that did not fail by its devices."""
    if run is None:
        return "the program did not run."
    if run.outcome is Outcome.TIMEOUT:
        return f"the program was stopped after {run.seconds:.0f} s (give it more with --timeout)."
    if run.outcome is Outcome.SIGNAL:
        return f"the program was killed by {run.signal or 'a signal'}."
    if run.outcome is Outcome.NOT_STARTED:
        return "the program did not start."
    if run.outcome is Outcome.UNOBSERVED:
        why = next(iter(run.internal_errors), "the program was not observed")
        return f"{why}. What it does on its devices is not known."
    return f"the program fails, but not by its devices (exit code {run.exit_code}). Its own words:"
