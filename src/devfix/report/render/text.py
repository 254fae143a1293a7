"""The record of a report as a person reads it in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import StringIO

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from devfix.report.failure_types import FailureRecord
from devfix.report.render.dependency_fault import not_yours
from devfix.report.render.fix import candidates, change
from devfix.report.render.headline import headline, next_steps
from devfix.report.render.plain import one_line, plain, short_path, tail
from devfix.report.render.regression_test import guarded
from devfix.report.render.tensors import where_they_met
from devfix.report.types import BehindRecord, FixRecord, OthersRecord, ReportRecord, RunRecord


def text(data: ReportRecord, color: bool = False, width: int = 100) -> str:
    """Return the record (see record.py) as text of `width` columns; with `color`, with terminal escapes of our own."""
    return rendered(Group(*_parts(data)), color, width)


def rendered(content: RenderableType, color: bool, width: int) -> str:
    """Return what rich makes of the content, without spaces at the ends of lines."""
    screen = Console(
        file=StringIO(),
        force_terminal=color,
        color_system="standard" if color else None,
        width=width,
        legacy_windows=False,
    )
    with screen.capture() as capture:
        screen.print(content, highlight=False, markup=False, emoji=False)
    return "".join(line.rstrip() + "\n" for line in capture.get().splitlines())


def _parts(data: ReportRecord) -> Iterator[RenderableType]:
    yield headline(data)
    failures = data.failures
    for index, failure in enumerate(failures):
        yield Text()
        yield _title(index, len(failures), failure)
        parts = _failure(failure, _of(data.fixes, index), _of(data.dropped, index), whole=not data.branch)
        yield Padding(Group(*parts), (0, 0, 0, 2))
    if fault := data.dependency_fault:
        yield from not_yours(fault)
    if behind := data.behind:
        yield from _behind(behind)
    if data.outcome in ("unrepaired", "error") and data.last_run and not failures and not data.obstacle:
        yield Padding(_own_words(data.last_run), (1, 0, 0, 2))
    if others := data.others:
        yield from _others(others)
    notes = [*data.notes, *(_internal_errors(data.last_run) if data.last_run else ())]
    if notes:
        yield Text()
        yield from (Text.assemble(("note: ", "yellow"), plain(note)) for note in notes)
    yield from next_steps(data)


def _internal_errors(run: RunRecord) -> Iterator[str]:
    """Name what went wrong in devfix's own machinery: each kind once, a few at most."""
    for error in list(dict.fromkeys(run.internal_errors))[:3]:
        yield f"devfix could not see everything: {one_line(error)}"


def _title(index: int, count: int, failure: FailureRecord) -> Text:
    number = f"Failure {index + 1} of {count}" if count > 1 else "The failure"
    at = failure.at
    where = f" at {short_path(at.path)}:{at.line}" if at else ""
    return Text(number + where + (f" in {plain(at.function)}" if at and at.function else ""), style="bold")


def diagnosis(failure: FailureRecord) -> Iterator[RenderableType]:
    """Yield the failing line, the exception, and the tensors that met."""
    if failure.at and failure.at.source:
        yield Text("> " + plain(failure.at.source), style="cyan")
    yield Text(f"{plain(failure.exception)}: {one_line(failure.message, 600)}", style="red")
    yield from where_they_met(failure)


def _failure(
    failure: FailureRecord, fixes: Sequence[FixRecord], dropped: Sequence[FixRecord], whole: bool
) -> Iterator[RenderableType]:
    """Yield all that is told of a failure; `whole`: tests of the fixes too, which are on no branch then."""
    yield from diagnosis(failure)
    for fix in fixes:
        yield Text()
        yield from change(fix)
        yield from guarded(fix, whole)
    if not fixes:
        yield Text()
        yield from _no_fix(failure, dropped)
    yield from candidates(dropped, fixes)


def _no_fix(failure: FailureRecord, dropped: Sequence[FixRecord]) -> Iterator[Text]:
    for blame in failure.findings:
        yield Text.assemble((plain(blame.rule), "bold magenta"), ": ", plain(blame.reason))
    tried = (
        f"{len(dropped)} candidate{'s were' if len(dropped) != 1 else ' was'} tried"
        if dropped
        else "No rule had a patch"
    )
    yield Text(f"Not repaired. {tried}{', none held' if dropped else ' to propose'}.", style="red")


def _others(others: OthersRecord) -> Iterator[RenderableType]:
    """Tell which other commands were run before and after the fixes, and which were left out."""
    yield Text(f"\nOther commands that reach the fixes, before and after (in at most {others.seconds:g} s):")
    for each in others.ran:
        told = f"{each.comparison}" + (f" ({each.after})" if each.after != "clean" else "")
        yield Text(f"  {one_line(each.command, 200)}  on {plain(each.world)}: {plain(told)}")
    for other in others.left_out:
        yield Text(f"  {one_line(other.command, 200)}: left out, {one_line(other.reason, 200)}")


def _behind(failure: BehindRecord) -> Iterator[RenderableType]:
    """Quote the failure of its own in which a repaired program ends."""
    at = failure.at
    where = f" at {short_path(at.path)}:{at.line}" if at else ""
    yield Text(f"\nBehind the repair{where}: no device failure, and there without a GPU too", style="bold")
    told = ": ".join(filter(None, (plain(failure.exception), one_line(failure.message, 600))))
    yield Padding(Text(told, style="red"), (0, 0, 0, 2))
    yield Padding(Text(tail(failure.text, 40)), (1, 0, 0, 2))


def _own_words(run: RunRecord) -> RenderableType:
    """Quote a program that fails for a reason of its own."""
    words = tail(run.stderr or run.stdout, 40)
    return Text(words or "(it printed nothing)")


def _of(fixes: Sequence[FixRecord], failure: int) -> list[FixRecord]:
    return [fix for fix in fixes if fix.failure == failure]
