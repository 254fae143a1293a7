"""The headline of a report and its last lines: the outcome, and what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from devfix.model import DeviceType, Outcome
from devfix.report.failure_types import WorldRecord
from devfix.report.plain import one_line, plain
from devfix.report.types import RemainingFailureRecord, ReportRecord, RunRecord

_STYLES = {"repaired": "bold green", "clean": "bold green", "partial": "bold yellow", "dependency-fault": "bold yellow"}


def headline(data: ReportRecord) -> Text:
    """Return the outcome in one sentence, what to know of the fixes, the command and its world."""
    words = Text(_sentence(data), style=_STYLES.get(data.outcome, "bold red"))
    for doubt in doubts(data):
        words.append("\n" + doubt, style="bold yellow")
    if obstacle := data.obstacle:
        words.append("\nSuggestion: " + one_line(obstacle.advice, 400), style="none")
    if data.command:
        words.append("\n" + one_line(data.command), style="bold")
        words.append(f"  on {world(data.world)}" if data.world else "", style="none")
    return words


def world(data: WorldRecord) -> str:
    """Return a world in words: "a simulated GPU", "2 real GPUs, cuda:1 current", "a simulated GPU (mps)"."""
    if data.kind == "cpu" or not data.gpus:
        return "a machine without GPUs"
    number = f"a {data.kind} GPU" if data.gpus == 1 else f"{data.gpus} {data.kind} GPUs"
    name = data.device.value
    kind = "" if data.device is DeviceType.CUDA else f" ({name})"
    return number + kind + (f", {name}:{data.current} current" if data.current else "")


def next_steps(data: ReportRecord) -> Iterator[RenderableType]:
    """Yield what a person may want to type now."""
    if not data.fixes:
        yield from _without_fixes(data)
        return
    if data.applied:
        yield from _render_applied(data.applied)
        return
    if data.not_applied:
        yield Text(f"\nNot applied, and no branch created: {one_line(data.not_applied, 400)}", style="red")
        return
    if not data.branch and data.outcome not in ("repaired", "partial"):
        yield Text("\nNo branch created: a later failure could not be fixed.")
        return
    if not data.branch:
        yield Text("\nNo branch created. To take the fixes, run again with --take branch or --apply.")
        return
    branch, count = shlex.quote(plain(data.branch)), len(data.commits)
    yield Text.assemble("\nCreated branch ", (branch, "bold"), f" ({_count(count, 'commit')}). Working tree unchanged.")
    commands = (f"git diff HEAD...{branch}", f"git merge {branch}", f"git branch -D {branch}")
    lines = zip(commands, ("review", "merge", "delete"), strict=True)
    yield Text("\n".join(f"  {command.ljust(len(commands[0]))}  # {purpose}" for command, purpose in lines))


def _render_applied(paths: Sequence[str]) -> Iterator[RenderableType]:
    """Yield which files of the working tree have changed, and how to review and to undo that."""
    shown = ", ".join(plain(path) for path in paths[:5]) + (f" and {len(paths) - 5} more" if len(paths) > 5 else "")
    yield Text.assemble("\nApplied to the working tree: ", (shown, "bold"), ". No branch created.")
    yield Text("  git diff     # review\n  devfix undo  # undo")


def _without_fixes(data: ReportRecord) -> Iterator[RenderableType]:
    """Yield what can be done if nothing was changed."""
    if data.outcome == "clean" and data.world and data.world.gpus == 1 and data.world.device is DeviceType.CUDA:
        yield Text("\nA program that runs on one GPU may still fail on two. To check, run again with --gpus 2.")
    elif catches_failure(data):
        yield Text("\nNothing was changed. To repair what the program catches, run again with --include-handled.")
    elif data.outcome == "unrepaired" and data.failures:
        yield Text(
            "\nNothing was changed. The operands and where they come from are listed above: fix the program by hand, "
            "or write a rule: devfix new-rule PACK/NAME (docs/tutorials/writing-rules.md)."
        )


_CAUGHT = "the program catches it, and was not changed there; --include-handled repairs it too"


def catches_failure(data: ReportRecord) -> bool:
    """Return whether the last failure is one that the program catches, for which no fix was looked for."""
    ends_well = data.last_run is not None and data.last_run.outcome is Outcome.CLEAN
    return data.outcome == "unrepaired" and ends_well and bool(data.failures)


def why_not_sought(data: ReportRecord, index: int) -> str:
    """Return why no fix of a failure was looked for, in one sentence; "" if one was."""
    is_last = index == len(data.failures) - 1 and all(fix.failure != index for fix in data.fixes)
    return f"Not repaired: {_CAUGHT}." if is_last and catches_failure(data) else ""


def doubts(data: ReportRecord) -> Iterator[str]:
    """Yield effects of the fixes and objections to them; of a failure without one, to a candidate that did fix it."""
    for fix in data.fixes:
        for effect in fix.verdict.effects:
            yield f"{one_line(effect, 300)}."
        for objection in fix.verdict.objections[:3]:
            yield f"Review `{one_line(fix.title, 100)}`: {one_line(objection, 300)}"
    fixed = {fix.failure for fix in data.fixes}
    for fix in data.rejected:
        objections = fix.verdict.objections
        if objections and fix.verdict.outcome == "regressed" and fix.failure not in fixed:
            fixed.add(fix.failure)
            yield f"`{one_line(fix.title, 100)}` would fix it, but was rejected: {one_line(objections[0], 300)}"


def _sentence(data: ReportRecord) -> str:
    outcome, failures, fixes = data.outcome, len(data.failures), len(data.fixes)
    ended = data.last_run.ended if data.last_run and outcome in ("repaired", "clean") else ""
    if outcome == "repaired" and ended:
        return f"Repaired: {_count(failures, 'device failure')}, {_count(fixes, 'fix', 'fixes')}; {one_line(ended)}."
    if outcome == "clean" and ended:
        return f"No device failure: {one_line(ended)}; then devfix ended the program."
    if outcome == "repaired":
        repaired = f"Repaired: {_count(failures, 'device failure')}, {_count(fixes, 'fix', 'fixes')}."
        return repaired + (f" {behind(data.remaining_failure)}" if data.remaining_failure else "")
    if outcome == "clean":
        return "Nothing to repair: the program ran without device failures."
    if outcome == "partial":
        return f"Partly repaired: {fixes} of {failures} failures fixed."
    if outcome == "dependency-fault":
        return "Not repaired: the fault is in an installed dependency."
    if data.error:
        return ("Internal error: " if data.error.log else "Error: ") + one_line(data.error.message)
    if (obstacle := data.obstacle) and fixes == failures:
        return f"{'Not all repaired' if fixes else 'Not repaired'}: {one_line(obstacle.message, 400)}."
    if fixes:
        return f"Not all repaired: {fixes} of {failures} failures fixed."
    if failures:
        return "Not repaired: a device failure remains."
    return "Not repaired: " + one_line(_ending(data.last_run), 2000)


def behind(failure: RemainingFailureRecord) -> str:
    """Return a sentence on the unrelated failure in which a repaired program ends."""
    code = f" (exit code {failure.exit_code})" if failure.exit_code is not None else ""
    return f"The program then fails for a reason unrelated to devices, also without a GPU{code}."


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _ending(run: RunRecord | None) -> str:
    """Return how a program ended that had no device failure."""
    if run is None:
        return "the program did not run."
    if run.outcome is Outcome.TIMEOUT:
        return f"the program exceeded the time limit of {run.seconds:.0f} s (--timeout raises it)."
    if run.outcome is Outcome.SIGNAL:
        return f"the program was killed by {run.signal or 'a signal'}."
    if run.outcome is Outcome.NOT_STARTED:
        return "the program did not start."
    if run.outcome is Outcome.UNOBSERVED:
        why = next(iter(run.internal_errors), "the program was not observed")
        return f"{why}. Its use of devices is not known."
    return f"the program failed for a reason unrelated to devices (exit code {run.exit_code}). Its output:"
