"""A report as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import StringIO
from itertools import chain

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from devfix.model import Outcome
from devfix.report.failure_types import FailureRecord
from devfix.report.plain import one_line, plain, short_path, tail
from devfix.report.render.terminal.fix import candidates, change, colored_diff, dependency_fault, regression_test
from devfix.report.render.terminal.headline import headline, next_steps, why_not_sought
from devfix.report.render.terminal.tensors import operands
from devfix.report.types import FixRecord, OthersRecord, RemainingFailureRecord, ReportRecord, RunRecord

_UNWRAPPED = 100_000  # columns


def text(
    data: ReportRecord, color: bool = False, width: int = 100, verbose: bool = False, undecided: bool = False
) -> str:
    """Return the record (see record.py) as text of `width` columns, with terminal escapes if `color`.

    With `verbose`, every rejected candidate is listed. `undecided`: the diffs of the fixes and what to do next are left
    out, since a question follows that shows them.
    """
    return render_text(Group(*_parts(data, verbose, undecided)), color, width)


def ending(data: ReportRecord, color: bool = False, width: int = 100) -> str:
    """Return the end of the text alone: what became of the fixes."""
    return render_text(Group(*next_steps(data)), color, width)


def diff_text(diff: str, color: bool = False) -> str:
    """Return a diff with control characters escaped, and in colours if `color`; its lines are not wrapped."""
    return render_text(colored_diff(diff), color, _UNWRAPPED)


def render_text(content: RenderableType, color: bool, width: int) -> str:
    """Return what rich prints for the content, without trailing spaces."""
    screen = Console(
        file=StringIO(),
        force_terminal=color,
        color_system="standard" if color else None,
        width=width,
        legacy_windows=False,
    )
    with screen.capture() as capture:
        screen.print(content, highlight=False, markup=False, emoji=False, crop=False)
    return "".join(line.rstrip() + "\n" for line in capture.get().splitlines())


def _parts(data: ReportRecord, verbose: bool, undecided: bool) -> Iterator[RenderableType]:
    yield headline(data)
    failures = data.failures
    for index, failure in enumerate(failures):
        yield Text()
        yield _title(index, len(failures), failure)
        fixes, rejected = _of(data.fixes, index), _of(data.rejected, index)
        parts = _failure(failure, fixes, rejected, not (data.branch or undecided), verbose, not undecided)
        if reason := why_not_sought(data, index):
            parts = chain(diagnosis(failure), [Text(f"\n{reason}", style="red")])
        yield Padding(Group(*parts), (0, 0, 0, 2))
    if fault := data.dependency_fault:
        yield from dependency_fault(fault)
    if behind := data.remaining_failure:
        yield from _unrelated_failure(behind)
    if data.outcome in ("unrepaired", "error") and data.last_run and not failures and not data.obstacle:
        yield Padding(_output(data.last_run), (1, 0, 0, 2))
    if others := data.others:
        yield from _other_commands(others)
    notes = [*data.notes, *(_notes(data.last_run) if data.last_run else ())]
    if notes:
        yield Text()
        yield from (Text.assemble(("note: ", "yellow"), plain(note)) for note in notes)
    if not undecided:
        yield from next_steps(data)


def _notes(run: RunRecord) -> Iterator[str]:
    """Yield the notes on a run, then the errors inside the probe and the runner: each once, three of each at most."""
    yield from map(one_line, list(dict.fromkeys(run.notes))[:3])
    for error in list(dict.fromkeys(run.internal_errors))[:3]:
        yield f"trace incomplete: {one_line(error)}"


def _title(index: int, count: int, failure: FailureRecord) -> Text:
    number = f"Failure {index + 1} of {count}" if count > 1 else "The failure"
    at = failure.at
    where = f" at {short_path(at.path)}:{at.line}" if at else ""
    return Text(number + where + (f" in {plain(at.function)}" if at and at.function else ""), style="bold")


def diagnosis(failure: FailureRecord, is_raised: bool = True) -> Iterator[RenderableType]:
    """Yield the failing line, the exception where the program raises one, and the operands."""
    if failure.at and failure.at.source:
        yield Text("> " + plain(failure.at.source), style="cyan")
    if is_raised:
        yield Text(f"{plain(failure.exception)}: {one_line(failure.message, 600)}", style="red")
    yield from operands(failure)


def _failure(
    failure: FailureRecord,
    fixes: Sequence[FixRecord],
    rejected: Sequence[FixRecord],
    with_tests: bool,
    verbose: bool,
    with_diff: bool,
) -> Iterator[RenderableType]:
    """Yield the diagnosis of a failure and its fixes; `with_tests`: the source of tests, which no branch has then."""
    yield from diagnosis(failure)
    for fix in fixes:
        yield Text()
        yield from change(fix, with_diff)
        yield from regression_test(fix, with_tests)
    if not fixes:
        yield Text()
        yield from _no_fix(failure, rejected)
    yield from candidates(rejected, fixes, verbose)


def _no_fix(failure: FailureRecord, rejected: Sequence[FixRecord]) -> Iterator[Text]:
    for blame in failure.findings:
        yield Text.assemble((plain(blame.rule), "bold magenta"), ": ", plain(blame.reason))
    tried = f"{len(rejected)} candidate{'s' if len(rejected) != 1 else ''} tried, none verified"
    yield Text(f"Not repaired: {tried if rejected else 'no rule proposed a fix'}.", style="red")


def _other_commands(others: OthersRecord) -> Iterator[RenderableType]:
    """Yield which other commands were run before and after the fixes, and which were skipped."""
    yield Text(f"\nOther commands that reach the fixes, before and after (budget: {others.seconds:g} s):")
    for each in others.ran:
        result = f"{each.comparison}" + (f" ({each.after.value})" if each.after is not Outcome.CLEAN else "")
        yield Text(f"  {one_line(each.command, 200)}  on {plain(each.world)}: {plain(result)}")
    for other in others.left_out:
        yield Text(f"  {one_line(other.command, 200)}: skipped, {one_line(other.reason, 200)}")


def _unrelated_failure(failure: RemainingFailureRecord) -> Iterator[RenderableType]:
    """Yield the unrelated failure in which a repaired program ends."""
    at = failure.at
    where = f" at {short_path(at.path)}:{at.line}" if at else ""
    yield Text(f"\nAfter the fixes{where}: a failure unrelated to devices, also without a GPU", style="bold")
    words = ": ".join(filter(None, (plain(failure.exception), one_line(failure.message, 600))))
    yield Padding(Text(words, style="red"), (0, 0, 0, 2))
    yield Padding(Text(tail(failure.text, 40)), (1, 0, 0, 2))


def _output(run: RunRecord) -> RenderableType:
    """Return the end of the output of a program that failed for an unrelated reason."""
    words = tail(run.stderr or run.stdout, 40)
    return Text(words or "(no output)")


def _of(fixes: Sequence[FixRecord], failure: int) -> list[FixRecord]:
    return [fix for fix in fixes if fix.failure == failure]
