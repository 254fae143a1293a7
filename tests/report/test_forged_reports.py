"""Reports that nobody has written: whatever they say, they are refused in one line, or shown and harmless."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
from forged_json import forged
from hypothesis import HealthCheck, example, given, settings

from devfix.errors import UserError
from devfix.report.render.machine_readable.code_quality import code_quality
from devfix.report.render.machine_readable.json import dump, read
from devfix.report.render.machine_readable.sarif import sarif
from devfix.report.render.pull_request.summary import summary
from devfix.report.render.terminal.github import outputs, workflow_commands
from devfix.report.render.terminal.text import text
from devfix.report.types import ReportRecord

EXAMPLES = 1000 if os.environ.get("DEVFIX_HARM_POINTS") else 60
UNSAFE = {"\x1b", "\x9b", "\u202e", "\0", "\ud800"}
KILLED = {"seconds": 1.0, "outcome": "killed by a signal", "signal": "\x1b", "exit_code": None}
UNOBSERVED = {"seconds": 1.0, "outcome": "not observed", "signal": "", "exit_code": 0, "internal_errors": ["\x1b"]}


@pytest.mark.slow
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(forged(ReportRecord))
@example({"command": "", "outcome": "unrepaired", "commit": "", "world": None, "last_run": KILLED})
@example({"command": "", "outcome": "unrepaired", "commit": "", "world": None, "last_run": UNOBSERVED})
def test_a_report_of_the_right_types_is_shown_in_every_format(data: dict[str, Any]) -> None:
    report = read(json.dumps({**data, "schema": "devfix-report/1"}))
    assert read(dump(report)) == report
    every = (text, summary, outputs, workflow_commands, sarif, code_quality)
    for shown in (form(report) for form in every):
        assert not set(shown) & UNSAFE


@pytest.mark.slow
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(forged(ReportRecord), forged(ReportRecord))
def test_a_report_with_a_part_of_another_type_is_read_or_refused(data: dict[str, Any], other: dict[str, Any]) -> None:
    for name, part in zip(data, other.values(), strict=False):
        try:
            read(json.dumps({**data, "schema": "devfix-report/1", name: part}))
        except UserError as error:
            assert "\n" not in str(error) and not set(str(error)) & UNSAFE
