"""`--devfix-report FILE`: the device failures of a pytest session as a page or as JSON, those of all workers."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from dataclasses import replace
from enum import IntEnum
from pathlib import Path
from typing import Any

import pytest

from devfix.decoding import convert
from devfix.pytest_gpus import options
from devfix.pytest_gpus.lifted.results import PROPERTY, last_line
from devfix.pytest_gpus.tests import FAILURE, WORLD
from devfix.report.failure_types import WorldRecord
from devfix.report.find_types import ReasonRecord
from devfix.report.render.html.suite import suite_page
from devfix.report.render.machine_readable.json import dump
from devfix.report.suite_types import SuiteFailureRecord, SuiteRecord, SuiteWorldRecord


class Result(IntEnum):
    """The result of a test, of whose phases the last of these counts."""

    passed = 0
    skipped = 1
    other = 2
    artefact = 3
    device = 4


class SessionReport:
    """Collects the results of the tests in the process that reports, and writes the file at the end."""

    def __init__(self, config: pytest.Config) -> None:
        self._config, self._began = config, time.monotonic()
        self._path = options.report_path(config) or Path()
        self._results: dict[str, tuple[Result, WorldRecord | None, str]] = {}
        self._failures: dict[str, SuiteFailureRecord] = {}
        self._error = ""

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note the result of a phase of a test."""
        given = getattr(report, WORLD, None)
        world = convert(given, WorldRecord) if given is not None else None
        found = getattr(report, FAILURE, None)
        lifted = dict(report.user_properties).get(PROPERTY, {}).get("kind")
        result = _result(report, found is not None, lifted)
        if result is Result.device and found is not None:
            self._add(report.nodeid, world, found)
        known = self._results.get(report.nodeid)
        if known is None or result > known[0]:
            reason = last_line(report) if report.failed else ""
            self._results[report.nodeid] = (result, world, reason)

    def pytest_collectreport(self, report: Any) -> None:
        """Note a module that cannot be collected."""
        if report.failed:
            self._results[report.nodeid] = (Result.other, None, last_line(report))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Write the file."""
        data = self._record()
        text = dump(data) if self._path.suffix.lower() == ".json" else suite_page(data)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text(text, encoding="utf-8")
        except OSError as error:
            self._error = os.strerror(error.errno or 0)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say where the file is."""
        count = len(self._failures)
        said = f"not written: {self._error}" if self._error else f"{count} device failure{'s'[count == 1 :]}"
        terminalreporter.write_sep("-", f"devfix report: {self._path} ({said})")

    def _add(self, test: str, world: WorldRecord | None, found: str) -> None:
        """Add a failure, or its test to those of the same failure."""
        one = convert({**json.loads(found), "tests": [test], "worlds": [world] if world else []}, SuiteFailureRecord)
        key = _key(one)
        self._failures[key] = _join(self._failures.get(key, one), one)

    def _record(self) -> SuiteRecord:
        session: Any = self._config.pluginmanager.get_plugin("devfix-tests")
        wanted = session.world.session if session is not None else None
        failures = sorted(self._failures.values(), key=lambda each: (each.devices, -len(each.tests)))
        return SuiteRecord(
            root=str(self._config.rootpath),
            world=convert(wanted.data, WorldRecord) if wanted else None,
            lifted=bool(wanted and wanted.lift),
            seconds=round(time.monotonic() - self._began, 3),
            worlds=tuple(self._worlds()),
            failures=tuple(failures),
            artefacts=self._with(Result.artefact),
            other_failures=self._with(Result.other),
        )

    def _worlds(self) -> list[SuiteWorldRecord]:
        counts = Counter((world, result) for result, world, _ in self._results.values())
        return [
            SuiteWorldRecord(
                world=world,
                passed=counts[world, Result.passed],
                device_failures=counts[world, Result.device],
                other_failures=counts[world, Result.other],
                artefacts=counts[world, Result.artefact],
                skipped=counts[world, Result.skipped],
            )
            for world in dict.fromkeys(world for world, _ in counts)
        ]

    def _with(self, wanted: Result) -> tuple[ReasonRecord, ...]:
        return tuple(
            ReasonRecord(test=test, reason=reason)
            for test, (result, _, reason) in self._results.items()
            if result is wanted
        )


def _result(report: Any, is_device_failure: bool, lifted: str | None) -> Result:
    if not report.failed:
        return Result.skipped if report.skipped else Result.passed
    if lifted == "artefact":
        return Result.artefact
    return Result.device if is_device_failure else Result.other


def _key(one: SuiteFailureRecord) -> str:
    """Return what failures have in common that are one: the devices, the line, and the tensor that a rule blames.

    Without a rule it is all operands.
    """
    failure = one.failure
    blamed = {finding.operand for finding in failure.findings} or set(range(len(failure.operands)))
    made = [each.creation for number, each in enumerate(failure.operands) if number in blamed]
    at = (failure.at.path, failure.at.line) if failure.at else ()
    places = [(event.path, event.line) for event in made if event]
    return repr((one.devices, at, failure.op, failure.exception, places))


def _join(known: SuiteFailureRecord, one: SuiteFailureRecord) -> SuiteFailureRecord:
    return replace(
        known,
        tests=tuple(dict.fromkeys((*known.tests, *one.tests))),
        worlds=tuple(dict.fromkeys((*known.worlds, *one.worlds))),
    )
