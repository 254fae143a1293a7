"""The report of a pytest session as a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from devfix.model import World
from devfix.report.failure_types import WorldRecord
from devfix.report.render.html.journeys import journey
from devfix.report.render.html.page import page
from devfix.report.render.terminal.headline import world
from devfix.report.suite_types import SuiteFailureRecord, SuiteRecord, SuiteWorldRecord


def suite_page(data: SuiteRecord) -> str:
    """Return the report as one HTML file."""
    return page(
        "suite.html.jinja",
        report=data,
        is_good=not data.failures,
        headline=_headline(data),
        world=world(data.world) if data.world else "the one that each test asks for",
        failures=[_failure(number, each) for number, each in enumerate(data.failures, 1)],
        matrix=list(_matrix(data.worlds)),
        commands=[(f"Repair failure {number}", each.command) for number, each in enumerate(data.failures, 1)],
    )


def _headline(data: SuiteRecord) -> str:
    count, failing = len(data.failures), sum(each.device_failures for each in data.worlds)
    tests = sum(each.passed + each.device_failures + each.other_failures + each.artefacts for each in data.worlds)
    if not count:
        return f"No device failure in {tests} test{'s'[tests == 1 :]}"
    return f"{count} device failure{'s'[count == 1 :]} in {failing} of {tests} test{'s'[tests == 1 :]}"


def _failure(number: int, each: SuiteFailureRecord) -> dict[str, Any]:
    operands = [(operand, list(journey(operand, each.failure))) for operand in each.failure.operands]
    return {"number": number, "record": each, "operands": operands, "worlds": [_name(one) for one in each.worlds]}


def _matrix(worlds: tuple[SuiteWorldRecord, ...]) -> Iterator[tuple[str, list[tuple[int, str]]]]:
    """Yield each world with its counts in the order of the table's columns, each with its class."""
    for each in worlds:
        failed = ((count, "fail" if count else "none") for count in (each.device_failures, each.other_failures))
        passed = (each.passed, "pass" if each.passed else "none")
        name = _name(each.world) if each.world else "none asked for"
        yield name, [passed, *failed, (each.artefacts, "none"), (each.skipped, "none")]


def _name(data: WorldRecord) -> str:
    return World(data.kind, data.gpus, data.current, data.device).name
