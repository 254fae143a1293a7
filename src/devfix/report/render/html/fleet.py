"""The report of a fleet as a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from devfix.progress import duration
from devfix.report.fleet_types import FleetRecord, RepositoryRecord
from devfix.report.render.html.page import page
from devfix.report.render.terminal.fleet import STEPS, count_text, fleet_headline, gigabytes
from devfix.report.types import FixRecord


@dataclass(frozen=True)
class RepositoryFixes:
    """The verified fixes of a job, or why its files are not shown."""

    fixes: Sequence[FixRecord] = ()
    problem: str = ""


def fleet_page(data: FleetRecord, fixes: Mapping[str, RepositoryFixes]) -> str:
    """Return the report as one HTML file, with the fixes of jobs by their keys."""
    numbers = {each.key: number for number, each in enumerate(data.repositories, 1) if each.key in fixes}
    sections = [
        {"number": numbers[each.key], "record": each, "fixes": fixes[each.key]}
        for each in data.repositories
        if each.key in fixes
    ]
    most = max((each.jobs for each in data.outcomes), default=1)
    return page(
        "fleet.html.jinja",
        report=data,
        is_good=not data.pending and not any(each.is_failure for each in data.outcomes),
        headline=fleet_headline(data),
        outcomes=[(each, 100 * each.jobs / most) for each in data.outcomes],
        with_findings=_rows([each for each in data.repositories if each.findings], numbers),
        others=_rows([each for each in data.repositories if not each.findings], numbers),
        sections=sections,
        left_out=sum(each.fixed > 0 and each.key not in numbers for each in data.repositories),
        steps=[
            (STEPS[each.step], each.jobs, *map(duration, (each.median, each.p90, each.p99, each.longest, each.total)))
            for each in data.seconds
        ],
        memory=[
            (name, gigabytes(size))
            for name, size in (
                ("Median", data.memory.median),
                ("90 % below", data.memory.p90),
                ("Largest", data.memory.largest),
            )
        ]
        if data.memory
        else [],
        counted=count_text,
    )


def _rows(records: Sequence[RepositoryRecord], numbers: Mapping[str, int]) -> list[dict[str, Any]]:
    return [{"record": each, "number": numbers.get(each.key), "took": duration(each.seconds)} for each in records]
