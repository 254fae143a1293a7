"""Folders of devfix processes that have died are cleared away, by several others at once too."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CLEAR = "from devfix.process.tempdirs import remove; from pathlib import Path; import sys; remove(Path(sys.argv[1]))"


INTERRUPTED = """import itertools, os, signal, sys
from devfix.process.tempdirs import scratch_folder
step, steps = int(sys.argv[1]), itertools.count(1)
def audit(event, arguments):
    if event.startswith(("open", "os.", "shutil.", "tempfile.", "fcntl.")) and next(steps) == step:
        os.kill(os.getpid(), signal.SIGINT)
sys.addaudithook(audit)
try:
    with scratch_folder() as folder:
        (folder / "inside").mkdir()
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.slow
def test_a_signal_at_any_moment_leaves_no_folder(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    for step in range(1, 100):
        command = [sys.executable, "-c", INTERRUPTED, str(step)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert not list(tmp_path.iterdir()), f"step {step}"
        if not done.stdout:
            break
    assert 10 < step < 99 and done.returncode == 0, done.stderr


@pytest.mark.slow
def test_several_processes_remove_one_folder_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "left"
    for number in range(300):
        inner = folder / f"{number % 3}" / f"{number}"
        inner.mkdir(parents=True)
        (inner / "file").touch()
    started = [subprocess.Popen([sys.executable, "-c", CLEAR, str(folder)], stderr=subprocess.PIPE) for _ in range(4)]
    errors = [process.communicate()[1] for process in started]
    assert [process.returncode for process in started] == [0] * 4, errors
    assert not folder.exists()
