"""A program that fails for a reason of its own behind its device failure: the device failure is repaired."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from git_repositories import git
from verdict_programs import PROGRAM, RIGHT, judged, rejected
from verifier_cases import CPU, HOME, SOURCE, make_run, patch

from devfix.model import Edit, Failure, Frame, Outcome, Run, SourceLocation
from devfix.report.render.machine_readable.json import read, write
from devfix.report.render.pull_request.summary import summary
from devfix.report.render.terminal.text import text
from devfix.verification.other_commands.endings import ends_alike

OWN = PROGRAM + 'raise ValueError(f"no such file on {device.type}")\n'


def ended(line: int = 4, message: str = "no file", world: object = CPU, exit_code: int = 1) -> Run:
    failure = Failure("other", "ValueError", message, frames=(Frame(SourceLocation("m.py", line, "f", owned=True)),))
    return replace(make_run(CPU), outcome=Outcome.OTHER, exit_code=exit_code, failure=failure, stderr=message)


def test_runs_end_alike_by_exception_message_and_place() -> None:
    assert ends_alike(ended(), ended())
    assert ends_alike(ended(message="on cuda:0"), ended(message="on cpu"))
    assert ends_alike(ended(message="on mps:0"), ended(message="on xpu"))
    assert not ends_alike(ended(message="other"), ended())
    assert not ends_alike(ended(line=5), ended())
    assert not ends_alike(ended(exit_code=2), ended())
    assert not ends_alike(ended(), make_run(CPU)) and not ends_alike(make_run(HOME), make_run(HOME))
    moved = Edit("m.py", 1, SOURCE, b"one more\n" + SOURCE)
    assert ends_alike(ended(line=3), ended(line=2), patch(moved.after).edits)


@pytest.mark.parametrize(
    ("there", "here"),
    [
        ("found invalid values:\ntensor([nan, 1.], device='cuda:0')", "found invalid values:\ntensor([nan, 1.])"),
        ("no loader for mps:0", "no loader for cpu"),
        ("no rule for <main.Net object at 0x7f01>", "no rule for <main.Net object at 0x7fa2>"),
    ],
)
def test_what_differs_from_device_to_device_or_run_to_run_does_not_count(there: str, here: str) -> None:
    assert ends_alike(ended(message=there), ended(message=here))
    assert not ends_alike(ended(message=there), ended(message=here.replace("no", "one").replace("1.", "2.")))


def test_runs_that_exit_without_an_exception_end_alike_by_their_last_words() -> None:
    exits = replace(ended(), failure=None)
    assert ends_alike(exits, exits) and not ends_alike(exits, ended())
    assert not ends_alike(replace(exits, stderr="usage: other"), exits)


@pytest.mark.slow
def test_the_device_failure_before_a_failure_of_its_own_is_repaired(tmp_path: Path) -> None:
    report = judged(tmp_path, RIGHT, program=OWN)
    assert report.outcome == "repaired" and report.branch and len(report.commits) == 1, rejected(report)
    assert "device) * 1" not in report.diff and ".to(device)" in report.diff
    assert git(Path(report.root), "rev-parse", report.branch) == report.commits[-1]
    data = read(write(report))
    assert data.remaining_failure.exception == "ValueError" and data.remaining_failure.at.path == "main.py"
    assert data.remaining_failure.exit_code == 1 and "Traceback" in data.remaining_failure.text
    verdict = data.fixes[0].verdict
    assert verdict.outcome == "verified" and "as it does without a GPU: ValueError" in verdict.reason
    for shown in (text(data), summary(data)):
        words = " ".join(shown.replace("\\", "").split())
        assert "The program then fails for a reason unrelated to devices, also without a GPU (exit code 1)." in words
        assert "ValueError: no such file on cuda" in words
    assert data.last_run is not None and data.last_run.outcome is Outcome.OTHER


@pytest.mark.slow
def test_a_change_that_brings_about_another_end_is_dropped(tmp_path: Path) -> None:
    wrong = ("return (first + bias).sum()", 'raise ValueError("another")')
    report = judged(tmp_path, wrong, program=OWN)
    assert report.outcome == "unrepaired" and not report.branch
    assert rejected(report)[0].startswith("broken: ")
