"""The progress of a fleet in a real terminal, and in a log."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

from fleet_results import finding, job, record

from devfix.cli.fleet.board import FleetLines
from devfix.fleet.progress import FleetProgress
from devfix.model import JobOutcome

RUN = """
import sys
sys.path.insert(0, sys.argv[1])
from fleet_results import finding, job, record
from devfix.cli.fleet.board import fleet_progress
from devfix.model import JobOutcome
with fleet_progress() as progress:
    progress.say("starting Ray")
    jobs = [job(number) for number in range(4)]
    progress.plan(jobs, 2, 2.0, "http://127.0.0.1:8265")
    for each in jobs:
        progress.start(each)
    progress.end(record(jobs[0], findings=(finding(jobs[0]), finding(jobs[0], 2)), fixes=1))
    progress.end(record(jobs[1], JobOutcome.CLONE_FAILED, reason="no such repository \\x1b[2J\\u202e"))
    progress.end(record(jobs[2], JobOutcome.CLEAN))
"""
HELPERS = str(Path(__file__).parents[1] / "helpers")


def test_a_terminal_gets_a_board() -> None:
    process, screen = pty.fork()
    if not process:
        os.environ.update(TERM="xterm-256color", COLUMNS="100", LINES="30")
        os.execv(sys.executable, [sys.executable, "-c", RUN, HELPERS])
    shown = b""
    while True:
        try:
            data = os.read(screen, 65536)
        except OSError:
            break
        if not data:
            break
        shown += data
    os.close(screen)
    _, status = os.waitpid(process, 0)
    text = shown.decode()
    assert os.waitstatus_to_exitcode(status) == 0, text
    last = text[text.rindex("3 of 4 jobs") :]
    assert "1 running" in last and "1 failed" in last and "2 findings, 1 fixed" in last and "left" in last
    assert "http://127.0.0.1:8265" in last and "ada/model-0 repaired in 1 min 0 s" in last
    assert "no such repository \\x1b[2J\\u202e" in last and "\x1b[2J" not in text and "\u202e" not in text
    assert "devfix: starting Ray" in text


def test_a_log_gets_a_line_for_each_job() -> None:
    done = subprocess.run([sys.executable, "-c", RUN, HELPERS], capture_output=True, text=True)
    assert done.stdout == ""
    assert done.stderr.splitlines() == [
        "devfix: starting Ray",
        "devfix: 4 jobs to run on 2 cores, 2 more have a result; Ray's dashboard: http://127.0.0.1:8265",
        "devfix: 1 of 4: ada/model-0 repaired in 1 min 0 s",
        "devfix: 2 of 4: ada/model-1 clone failed in 1 min 0 s: no such repository \\x1b[2J\\u202e",
        "devfix: 3 of 4: ada/model-2 clean in 1 min 0 s",
    ]


def test_of_thousands_a_log_gets_a_line_now_and_then() -> None:
    """Four jobs a second for 750 seconds; every hundredth fails."""
    clock, lines = [0.0], []
    progress: FleetProgress = FleetLines(lines.append, lambda: clock[0])
    jobs = [job(number) for number in range(3_000)]
    progress.plan(jobs, 0, 8, "")
    for number, each in enumerate(jobs):
        progress.start(each)
        clock[0] += 0.25
        outcome = JobOutcome.LOST if number % 100 == 99 else JobOutcome.FOUND
        progress.end(record(each, outcome, findings=(finding(each),)))
    assert len(lines) == 1 + 150
    assert (
        lines[75]
        == "devfix: 1500 of 3000 jobs ended: 0 running, 15 failed, 1500 findings, 0 fixed, about 6 min 15 s left"
    )
    assert lines[-1] == "devfix: 3000 of 3000 jobs ended: 0 running, 30 failed, 3000 findings, 0 fixed"
