"""The report of a search as a page."""

from __future__ import annotations

from typing import Any

from devfix.report.find_types import CauseRecord, FindRecord
from devfix.report.render.html.journeys import journey
from devfix.report.render.html.page import page
from devfix.report.render.terminal.find import find_headline


def find_page(data: FindRecord) -> str:
    """Return the report as one HTML file."""
    return page(
        "find.html.jinja",
        report=data,
        is_good=not (data.findings or data.error),
        headline=find_headline(data),
        findings=[_finding(number, each) for number, each in enumerate(data.findings, 1)],
        known=[_finding(number, each) for number, each in enumerate(data.known, 1)],
        commands=[("Repair the findings", "devfix find --repair")] if data.findings else [],
    )


def _finding(number: int, cause: CauseRecord) -> dict[str, Any]:
    failure = cause.failure
    operands = [(each, list(journey(each, failure))) for each in failure.operands] if failure else []
    return {"number": number, "record": cause, "failure": failure, "operands": operands}
