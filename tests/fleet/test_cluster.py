"""Faults of a cluster: what is lost is run again, nothing is done twice, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import waiting
from fleet_clusters import NodeCluster, program_job
from fleet_drivers import SANDBOX, TOKEN, driver, records, said

from devfix.fleet.records import Job
from devfix.fleet.results import ResultStore
from devfix.model import JobOutcome

pytestmark = pytest.mark.slow
FAILS = "raise SystemExit('it has a reason of its own')\n"
WAITS = "import time\ntime.sleep(100_000)\n"


def fleet_file(folder: Path, jobs: Sequence[Job], settings: str = "") -> Path:
    """Write a fleet.toml with the repositories of jobs."""
    text = f'[fleet]\nmemory = 3\npython = "{os.path.abspath(sys.executable)}"\nrun = "python main.py"\n'
    text += SANDBOX + settings
    text += "".join(f'[[repository]]\npath = "{job.address}"\n' for job in jobs)
    (folder / "fleet.toml").write_text(text)
    return folder / "fleet.toml"


def begun(cluster: NodeCluster) -> list[Path]:
    """The folders of jobs whose programs run."""
    return [each for each in cluster.jobs if (each / "files" / "repository" / "main.py").exists()]


def until(run: subprocess.Popen[str], happened: Callable[[], object]) -> None:
    """Wait for what happens while a driver runs."""
    waiting.until(lambda: run.poll() is not None or happened(), every=0.2)
    assert run.poll() is None, said(run)


def test_a_node_that_dies_and_a_driver_that_is_killed(
    cluster: NodeCluster, tmp_path: Path, orphans: Callable[[Path], list[str]]
) -> None:
    first = cluster.add()
    waits, fails = program_job(tmp_path / "waits", WAITS), program_job(tmp_path / "fails", FAILS)
    file = fleet_file(tmp_path, [fails, waits], "retries = 1\n")

    run = driver(cluster, file, "--jobs", "1")
    # The first job has ended and its result is kept, and the second one runs, when the driver is killed.
    until(run, lambda: _ended(tmp_path) and begun(cluster))
    _assert_no_token()
    run.send_signal(signal.SIGKILL)
    run.wait(timeout=waiting.HANGS)
    waiting.until(lambda: not orphans(cluster.cache), every=0.2)
    before = records(tmp_path)
    assert before["fails"].outcome is JobOutcome.PROGRAM_FAILED and "reason of its own" in before["fails"].reason

    run = driver(cluster, file)
    # The folder of the killed job is there until the next one begins.
    until(run, lambda: begun(cluster) and orphans(cluster.cache))
    cluster.kill(first)
    waiting.until(lambda: not orphans(cluster.cache), every=0.2)
    second = cluster.add()
    until(run, lambda: begun(cluster) and orphans(cluster.cache))
    cluster.kill(second)
    third = cluster.add()
    text = said(run)
    assert run.returncode == 1, text
    after = records(tmp_path)
    # Nothing is done twice, and what was begun as often as it is tried is accounted for.
    assert after["fails"] == before["fails"]
    assert (after["waits"].outcome, after["waits"].attempts) == (JobOutcome.LOST, 2), text
    assert not cluster.jobs and not orphans(cluster.cache)
    assert cluster.logs and not [path for path in cluster.logs if TOKEN.encode() in path.read_bytes()]
    cluster.kill(third)


@pytest.mark.parametrize("is_remote", [False, True], ids=["on a node", "on another machine"])
def test_an_interrupted_run_leaves_nothing_behind(
    cluster: NodeCluster, tmp_path: Path, orphans: Callable[[Path], list[str]], is_remote: bool
) -> None:
    address = cluster.remote if is_remote else cluster.address
    node = cluster.add()
    run = driver(cluster, fleet_file(tmp_path, [program_job(tmp_path / "fails", FAILS)]), address=address)
    text = said(run)
    assert run.returncode == 1 and records(tmp_path)["fails"].outcome is JobOutcome.PROGRAM_FAILED, text
    run = driver(cluster, fleet_file(tmp_path, [program_job(tmp_path / "waits", WAITS)]), address=address)
    until(run, lambda: begun(cluster) and orphans(cluster.cache))
    run.send_signal(signal.SIGTERM)
    text = said(run)
    assert run.returncode == 128 + signal.SIGTERM, text
    assert not cluster.jobs and not orphans(cluster.cache)
    assert set(records(tmp_path)) == {"fails"}
    large = fleet_file(tmp_path, [program_job(tmp_path / "large", FAILS)], "cores = 64\n")
    run = driver(cluster, large, address=address)
    text = said(run)
    assert run.returncode == 2 and "its job needs 64 cores and 3 GB of memory, and the nodes have" in text
    cluster.kill(node)


def test_a_head_node_that_fails_to_start_a_process_for_the_driver_is_asked_again(
    cluster: NodeCluster, tmp_path: Path
) -> None:
    node = cluster.add()
    file = fleet_file(tmp_path, [program_job(tmp_path / "fails", FAILS)])
    before = set(_client_servers(cluster))
    run = driver(cluster, file, address=cluster.remote)
    until(run, lambda: set(_client_servers(cluster)) - before)
    killed = set(_client_servers(cluster)) - before
    for process in killed:
        os.kill(process, signal.SIGKILL)
    text = said(run)
    assert run.returncode == 1 and records(tmp_path)["fails"].outcome is JobOutcome.PROGRAM_FAILED, text
    assert killed
    cluster.kill(node)


def _client_servers(cluster: NodeCluster) -> list[int]:
    """Return the processes that Ray's proxy has started, or is starting, for drivers on other machines."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                words = (process / "cmdline").read_text().split("\0")
                if "--mode=specific-server" in words and any(each.endswith(cluster.address) for each in words):
                    found.append(int(process.name))
            except OSError:
                continue
    return found


def _ended(folder: Path) -> bool:
    results = folder / "fleet-results"
    return (results / "devfix-fleet.json").exists() and bool(ResultStore.open(results).outcomes())


def _assert_no_token() -> None:
    """Assert that no process but the driver has the token in its environment or arguments."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                words = (process / "cmdline").read_bytes()
                text = words + (process / "environ").read_bytes()
            except OSError:
                continue
            if TOKEN.encode() in text and b"fleet\0run" not in words:
                found.append(words.decode())
    assert not found
