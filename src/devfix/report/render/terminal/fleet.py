"""The state of a fleet as text: a headline and tables, in which everything that a repository says is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from devfix.progress import duration
from devfix.report.fleet_types import FleetRecord
from devfix.report.plain import one_line

_REASONS = 15  # rows of reasons: the report has all
STEPS = {"clone": "clone", "environment": "environment", "run": "run", "job": "the whole job"}


def fleet_headline(data: FleetRecord) -> str:
    """Return the state in one line."""
    if not data.planned:
        return "No jobs are planned"
    ended = data.planned - data.pending
    jobs = f"{ended} of {data.planned} jobs ended" if data.pending else f"{count_text(data.planned, 'job')} ended"
    return f"{jobs}; {count_text(data.findings, 'finding')}, {data.fixed} fixed"


def count_text(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> count_text(1, "job"), counted(2, "job")
    ('1 job', '2 jobs')
    """
    return f"{number} {noun}{'s'[number == 1 :]}"


def gigabytes(size: int) -> str:
    """Return a number of bytes as people read it.

    >>> gigabytes(1_500_000_000), gigabytes(12_000_000)
    ('1.5 GB', '12 MB')
    """
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def status_tables(data: FleetRecord, lines: bool = False) -> Iterator[RenderableType]:
    """Yield the headline and the tables; with `lines` below their headers, as on a terminal."""
    yield Text(fleet_headline(data))
    outcomes = [(str(each.outcome), each.jobs) for each in data.outcomes]
    if data.pending:
        outcomes.append(("not yet run", data.pending))
    yield from _table(("outcome", "jobs"), outcomes, lines)
    yield from _table(
        ("rule", "findings", "fixed", "repositories"),
        [(each.rule or "none", each.findings, each.fixed, each.repositories) for each in data.rules],
        lines,
    )
    yield from _table(
        ("failure", "jobs", "reason"),
        [(each.outcome, each.jobs, each.reason) for each in data.failures[:_REASONS]],
        lines,
    )
    if len(data.failures) > _REASONS:
        yield Text(f"and {count_text(len(data.failures) - _REASONS, 'other reason')}: see `devfix fleet report`")
    yield from _table(
        ("step", "median", "90 %", "99 %", "longest", "all jobs"),
        [
            (STEPS[each.step], *map(duration, (each.median, each.p90, each.p99, each.longest, each.total)))
            for each in data.seconds
        ],
        lines,
    )
    if data.memory:
        sizes = map(gigabytes, (data.memory.median, data.memory.p90, data.memory.largest))
        yield Text("\nmemory of a job: median {}, 90 % below {}, largest {}".format(*sizes))
    if data.unplanned:
        yield Text(f"\n{count_text(data.unplanned, 'result')} of jobs that are not planned any more: not counted above")


def _table(columns: Sequence[str], rows: Iterable[Sequence[object]], lines: bool) -> Iterator[RenderableType]:
    table = Table(box=box.SIMPLE_HEAD if lines else None, pad_edge=lines, header_style="bold" if lines else "")
    rows = list(rows)
    for number, name in enumerate(columns):
        is_number = all(isinstance(row[number], int) for row in rows)
        table.add_column(name, justify="right" if is_number else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(one_line(str(cell), 200)) for cell in row))
    if rows:
        if not lines:
            yield Text("")
        yield table
