"""A run that waits for ever after a device failure is told from one that works, and from one that has not failed."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import pytest
from waiting import until

from devfix.execution.standstill import StandstillWatch

IDLE = 0.5  # seconds
FAILED = {"failure": None, "handled": [{"kind": "device-mismatch"}]}
WORK = f"import time\nwhile time.process_time() < {4 * IDLE}: pass"
WAIT = "import sys\nsys.stdin.read()"


@contextmanager
def program(traces: Path, code: str, trace: dict[str, object]) -> Iterator[subprocess.Popen[bytes]]:
    """A process with a probe's mark and its trace."""
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE) as process:
        (traces / f"{process.pid}.begun").write_text("image\n")
        (traces / f"{process.pid}-0.json").write_text(json.dumps(trace))
        yield process


def answers(watch: StandstillWatch, process: subprocess.Popen[bytes]) -> list[bool]:
    """Return what a watch says, asked again and again until a process ends by itself."""
    told = []
    while process.poll() is None:
        told.append(watch.is_set())
        time.sleep(0.02)
    return told


def test_one_that_waits_after_a_failure_is_ended(tmp_path: Path) -> None:
    with program(tmp_path, WAIT, FAILED):
        until(StandstillWatch(tmp_path, lambda: 0.0, idle=IDLE).is_set)


def test_one_that_works_is_not(tmp_path: Path) -> None:
    with program(tmp_path, WORK, FAILED) as process:
        watch = StandstillWatch(tmp_path, lambda: 0.0, idle=IDLE)
        ended = answers(watch, process)
    assert ended and not any(ended)


@pytest.mark.parametrize(
    ("trace", "limit"),
    [
        ({"failure": None, "handled": []}, 0.0),
        ({"failure": {"kind": "other"}, "handled": []}, 0.0),
        (FAILED, None),
        (FAILED, 3600.0),
    ],
)
def test_one_without_a_failure_or_a_limit_is_not(trace: dict[str, object], limit: float | None, tmp_path: Path) -> None:
    cancelled = Event()
    with program(tmp_path, WAIT, trace), program(tmp_path, WORK, trace) as clock:
        watch = StandstillWatch(tmp_path, lambda: limit, cancelled, idle=IDLE)
        (tmp_path / f"{clock.pid}.begun").unlink()
        assert not any(answers(watch, clock))
        cancelled.set()
        assert watch.is_set()
