"""Other processes than the first live in the simulated world too, and none of them hangs."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import devfix.probe

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parent
ENTRY = Path(devfix.probe.__file__).parent / "entry"


def run(tmp_path: Path, *command: str) -> str:
    order = {"world": {"kind": "simulated", "gpus": 2, "current": 0}, "traces": str(tmp_path)}
    environment = {**os.environ, "DEVFIX_PROBE": json.dumps(order), "PYTHONPATH": str(ENTRY), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, *command], env=environment, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    return done.stdout


def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def test_two_ranks_that_ask_for_nccl(tmp_path: Path) -> None:
    output = run(tmp_path, str(FOLDER / "two_ranks.py"), free_port())
    assert "rank 0 is done" in output and "rank 1 is done" in output


def test_workers_children_and_threads(tmp_path: Path) -> None:
    assert "all processes are done" in run(tmp_path, str(FOLDER / "processes.py"))
