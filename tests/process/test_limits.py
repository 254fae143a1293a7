"""Programs that take too much: each limit ends them with all of their processes and is named; real programs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
import waiting
from living_processes import living
from waiting import HANGS

from devfix.process import Completed, LimitKind, ResourceLimits, child_environment, default_limits, run

MEGABYTE = 1_000_000
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the limits are looked at in /proc")


def python(script: str, folder: Path, timeout: float = HANGS, **limits: int) -> tuple[Completed, list[str]]:
    """Run a script within limits; return how it ended, and what of it is still there."""
    mark = str(uuid.uuid4())
    command = [sys.executable, "-c", script]
    done = run(command, folder, {**child_environment(), "MARK": mark}, timeout, ResourceLimits(**limits))
    return done, living(mark)


def test_memory(tmp_path: Path) -> None:
    eats = "kept = []\nwhile True: kept.append(bytearray(b'x') * 2_000_000)"
    done, left = python(eats, tmp_path, memory=300 * MEGABYTE)
    assert (done.signal, done.exit_code, done.timed_out) == ("SIGKILL", None, False)
    assert "more than 300 MB of memory" in done.internal_error and not left
    assert done.limit is LimitKind.MEMORY and done.memory >= 300 * MEGABYTE


def test_the_memory_that_was_taken(tmp_path: Path) -> None:
    takes = "kept = bytearray(b'x') * 120_000_000\nimport time\ntime.sleep(0.5)"
    done, _ = python(takes, tmp_path, memory=1000 * MEGABYTE)
    assert (done.exit_code, done.limit) == (0, None) and 120 * MEGABYTE < done.memory < 300 * MEGABYTE


def test_disk_of_all_files_together(tmp_path: Path) -> None:
    fills = "import itertools\nfor n in itertools.count(): open(f'file-{n}', 'wb').write(bytes(1_000_000))"
    done, left = python(fills, tmp_path, disk=20 * MEGABYTE)
    assert (done.signal, done.limit) == ("SIGKILL", LimitKind.DISK) and not left
    assert "files took more than 20 MB of disk" in done.internal_error


def test_memory_of_all_processes_together(tmp_path: Path) -> None:
    eats = "import os, time\nfor _ in range(3): os.fork()\nkept = bytearray(b'x') * 60_000_000\ntime.sleep(6000)"
    done, left = python(eats, tmp_path, memory=300 * MEGABYTE)
    assert "more than 300 MB of memory" in done.internal_error and not left


@pytest.mark.slow
def test_what_forked_processes_share_counts_once(tmp_path: Path) -> None:
    shares = (
        "import os, time\nkept = bytearray(b'x') * 200_000_000\n"
        "for _ in range(2): os.fork()\ntime.sleep(1)\nos._exit(0)"
    )
    done, _ = python(shares, tmp_path, memory=400 * MEGABYTE)
    assert (done.exit_code, done.internal_error) == (0, "")


FORKS = """import os, time
for _ in range(60):
    if os.fork() == 0:
        time.sleep(6000)
        os._exit(0)
time.sleep(6000)"""


@pytest.mark.slow
@pytest.mark.parametrize("detached", ["", "os.setsid()"])
def test_processes(detached: str, tmp_path: Path) -> None:
    script = FORKS.replace("        time.sleep(6000)", f"        {detached or 'pass'}; time.sleep(6000)")
    done, left = python(script, tmp_path, processes=40)
    assert "more than 40 processes" in done.internal_error and done.signal == "SIGKILL" and not left
    done, left = python(script.replace("time.sleep(6000)", "time.sleep(1)"), tmp_path, processes=80)
    assert done.exit_code == 0 and not done.internal_error and not left


def test_what_forks_without_end_is_ended_by_the_number_of_its_processes(tmp_path: Path) -> None:
    # Two thousand at the most, lest a mistake in the limit ends the machine.
    bomb = "import os, signal\nfor _ in range(11): os.fork()\nwhile True: signal.pause()"
    done, left = python(bomb, tmp_path, processes=50)
    assert "processes" in done.internal_error and not left


def test_the_size_of_a_file(tmp_path: Path) -> None:
    writes = (
        "with open('large', 'wb', buffering=0) as file:\n"
        "    try:\n        while True: file.write(bytes(1_000_000))\n"
        "    except OSError as error: print(error.strerror)"
    )
    done, _ = python(writes, tmp_path, file_size=5 * MEGABYTE)
    assert done.stdout == "File too large\n" and (tmp_path / "large").stat().st_size == 5 * MEGABYTE


def test_many_files_that_fill_the_disk(tmp_path: Path) -> None:
    reserve = shutil.disk_usage(tmp_path).free - 300 * MEGABYTE
    fills = (
        "import os, time\nfor n in range(1000):\n"
        "    with open(str(n), 'wb') as file: os.posix_fallocate(file.fileno(), 0, 20_000_000)\n    time.sleep(0.02)"
    )
    done, _ = python(fills, tmp_path, reserve=reserve)
    assert "free on the disk" in done.internal_error
    assert len(list(tmp_path.iterdir())) < 1000
    done, _ = python("print('ran')", tmp_path, reserve=1 << 60)  # a disk that was full before
    assert (done.stdout, done.internal_error) == ("ran\n", "")


@pytest.mark.slow
def test_gigabytes_of_output_take_no_space_and_no_core_is_left(tmp_path: Path) -> None:
    done, _ = python(
        "import sys\nfor _ in range(300): sys.stdout.write('y' * 10_000_000)", tmp_path, output_limit=MEGABYTE
    )
    assert done.exit_code == 0 and done.truncated and len(done.stdout) < 1.1 * MEGABYTE
    done, _ = python(
        "import resource, os; print(resource.getrlimit(resource.RLIMIT_CORE), flush=True); os.abort()", tmp_path
    )
    assert (done.stdout, done.signal) == ("(0, 0)\n", "SIGABRT")


def test_its_folder_may_vanish(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    script = "import os, shutil, time; shutil.rmtree(os.getcwd()); time.sleep(0.5); print('end')"
    done, _ = python(script, folder, reserve=1, memory=10**12, processes=100)
    assert (done.stdout, done.internal_error) == ("end\n", "")


def test_the_defaults_stop_no_honest_program() -> None:
    limits = default_limits()
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert 0 < limits.memory < total and limits.processes == 1000
    assert 0 < limits.reserve <= 1_000_000_000 and limits.file_size > limits.reserve


def test_where_devfix_is_killed_nothing_of_a_limited_program_stays(tmp_path: Path) -> None:
    """The supervisor has nobody to report the memory to, and ends the program's daemons all the same."""
    mark = str(uuid.uuid4())
    daemon = (
        f"import os, time\nif os.fork() == 0:\n    os.setsid()\nopen({str(tmp_path / 'up')!r}, 'w')\ntime.sleep(6000)"
    )
    outer = (
        "import os, sys\nfrom pathlib import Path\nfrom devfix.process import ResourceLimits, run\n"
        f"run([sys.executable, '-c', {daemon!r}], Path('/'), os.environ, 6000, ResourceLimits(memory=10**9))\n"
    )
    with subprocess.Popen([sys.executable, "-c", outer], env={**os.environ, "MARK": mark}) as process:
        waiting.until((tmp_path / "up").exists)
        process.kill()
    waiting.until(lambda: not living(mark))
