"""`devfix fleet run` with the Ray that it starts itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import waiting
from fleet_clusters import program_job
from fleet_drivers import SANDBOX, TOKEN
from living_processes import living

from devfix.fleet.results import ResultStore
from devfix.model import JobOutcome

FAILS = "raise SystemExit('it has a reason of its own')\n"


def fleet(folder: Path, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the command to its end; its temporary folders, that of Ray among them, must then be gone."""
    environment = {**os.environ, "GITHUB_TOKEN": TOKEN, "XDG_CACHE_HOME": str(folder / "cache"), **variables}
    command = [sys.executable, "-m", "devfix", "fleet", "run", str(folder / "fleet.toml"), *options]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        stdout, stderr = process.communicate(timeout=waiting.HANGS)
    assert not list(Path(tempfile.gettempdir()).glob(f"devfix-*{process.pid}-*"))
    return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)


def write_fleet(folder: Path, more: str = "") -> None:
    job = program_job(folder / "fails", FAILS)
    settings = f'memory = 2\npython = "{os.path.abspath(sys.executable)}"\nrun = "python main.py"\n{more}'
    (folder / "fleet.toml").write_text(f'[fleet]\n{settings}[[repository]]\npath = "{job.address}"\n')


@pytest.mark.slow
def test_a_run_and_another_one(tmp_path: Path) -> None:
    write_fleet(tmp_path, SANDBOX)
    done = fleet(tmp_path, MARK=str(tmp_path))
    assert done.returncode == 1, done.stderr
    assert "1 program failed\n1 job, 1 run now" in done.stdout
    assert TOKEN not in done.stdout + done.stderr
    (record,) = ResultStore.open(tmp_path / "fleet-results").records()
    assert (record.outcome, record.attempts) == (JobOutcome.PROGRAM_FAILED, 1)
    assert not living(str(tmp_path))
    again = fleet(tmp_path)
    assert "1 job, 0 run now" in again.stdout and "Ray" not in again.stderr


def test_ray_is_imported_after_it_has_started() -> None:
    """It reads how to authenticate when it is imported."""
    words = "import sys, devfix.fleet.cluster; print('ray' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr


def test_a_dry_run_runs_nothing(tmp_path: Path) -> None:
    write_fleet(tmp_path)
    done = fleet(tmp_path, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "1 job to run, 0 with a result"
    assert not (tmp_path / "fleet-results").exists()


def test_without_bubblewrap_nothing_runs_in_place_of_a_sandbox(tmp_path: Path) -> None:
    write_fleet(tmp_path)
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "git").symlink_to(shutil.which("git") or "git")
    done = fleet(tmp_path, PATH=str(tools))
    assert done.returncode == 2 and "jobs cannot run in a sandbox: bubblewrap is not there" in done.stderr
