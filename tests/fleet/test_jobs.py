"""Jobs on one node: what each fault ends in, and what a hostile program can reach."""

from __future__ import annotations

import json
import os
import socket
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fleet_clusters import program_job
from git_repositories import git, make_repository
from package_index import sole_index

from devfix.fleet.jobs import NodeFolders, run_job
from devfix.fleet.jobs.artifact import read_artifact
from devfix.fleet.jobs.ending import Ended
from devfix.fleet.records import Job, JobLimits, JobResult
from devfix.model import JobOutcome
from devfix.process import why_no_sandbox

bubblewrap = pytest.mark.skipif(bool(why_no_sandbox()), reason=why_no_sandbox())
DEVICE_BUG = "import torch\nx = torch.ones(2, device='cuda')\ny = torch.arange(2)\nprint((x + y).sum().item())\n"
PLENTY = JobLimits(memory=4.0, seconds=1800.0)


def ran(job: Job, node: Path) -> JobResult:
    result = run_job(job, NodeFolders(node), "here", "1.0")
    jobs = node / "jobs"
    assert not jobs.exists() or not list(jobs.iterdir()), "the folder of the job is still there"
    return result


def outcome(job: Job, node: Path) -> tuple[JobOutcome, str]:
    record = ran(job, node).record
    assert "\n" not in record.reason
    return record.outcome, record.reason


@bubblewrap
@pytest.mark.slow
def test_a_repaired_program(tmp_path: Path) -> None:
    job = program_job(tmp_path / "program", DEVICE_BUG, options=("--no-test",))
    result = ran(job, tmp_path / "node")
    record = result.record
    assert (record.outcome, record.fixes, record.reason) == (JobOutcome.REPAIRED, 1, "")
    (finding,) = record.findings
    assert (finding.key, finding.number, finding.kind, finding.path, finding.line) == (
        job.key,
        1,
        "raises",
        "main.py",
        4,
    )
    assert finding.rule and finding.fixed and record.torch
    assert record.memory > 100_000_000 and record.run_seconds > 0 and record.clone_seconds > 0
    files = dict(result.artifact)
    assert json.loads(files["report.json"])["commit"] == job.commit
    assert any(name.startswith("patches/0001") for name in files)


@pytest.mark.slow
def test_a_clone_that_fails(tmp_path: Path) -> None:
    job = program_job(tmp_path / "program", "1\n", sandbox=False)
    found, reason = outcome(replace(job, address=str(tmp_path / "gone")), tmp_path / "node")
    assert found is JobOutcome.CLONE_FAILED and "gone" in reason
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    found, reason = outcome(replace(job, address=f"http://127.0.0.1:{port}/a/b"), tmp_path / "node")
    assert found is JobOutcome.CLONE_FAILED and "Failed to connect" in reason
    found, reason = outcome(replace(job, commit="0" * 40), tmp_path / "node")
    assert found is JobOutcome.CLONE_FAILED
    found, reason = outcome(replace(job, subfolder="none"), tmp_path / "node")
    assert found is JobOutcome.NOTHING_TO_RUN and "'none'" in reason


def test_a_clone_has_objects_of_its_own(tmp_path: Path) -> None:
    """A job that writes to its repository must not change what the next job gets."""
    job = program_job(tmp_path / "program", "1\n")
    from devfix.workspace import check_out_commit

    for name in ("one", "two"):
        check_out_commit(job.address, "", job.commit, tmp_path / "cache", tmp_path / name, 600.0, 10**9)
        assert git(tmp_path / name, "rev-parse", "HEAD") == job.commit
        assert (tmp_path / name / "main.py").read_text() == "1\n"
        linked = [p for p in (tmp_path / name / ".git").rglob("*") if p.is_file() and p.stat().st_nlink > 1]
        assert not linked and not (tmp_path / name / ".git" / "objects" / "info" / "alternates").exists()


@pytest.mark.slow
def test_an_environment_that_does_not_resolve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_repository(tmp_path / "program", {"main.py": "1\n", "requirements.txt": "stem==7\n"})
    job = replace(program_job(tmp_path / "program", ""), python="", torch="none", sandbox=False)
    with sole_index(tmp_path, monkeypatch) as index:
        index.add("stem", "1.0")
        index.add("torch", "2.7")
        found, reason = outcome(job, tmp_path / "node")
    assert found is JobOutcome.ENVIRONMENT_FAILED and "stem" in reason


@bubblewrap
@pytest.mark.slow
def test_what_has_no_wheel_is_built_in_the_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build can write to no cache that another job reads, and its environment ends with the job."""
    mark = tmp_path / "mark"
    tries = f"try:\n    open({str(mark)!r}, 'w')\nexcept OSError:\n    pass\n"
    setup = f"{tries}from setuptools import setup\nsetup(name='stem', version='1.0', py_modules=['stem'])\n"
    build = '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
    with sole_index(tmp_path, monkeypatch) as index:
        index.add_installed("setuptools")
        index.add("leaf")
        index.add("torch", "2.7")
        index.add_source("stem", "1.0", {"setup.py": setup, "stem.py": "", "pyproject.toml": build})
        found = {}
        for name in ("leaf", "stem"):
            make_repository(tmp_path / name, {"main.py": f"import {name}\n", "requirements.txt": f"{name}\n"})
            job = replace(program_job(tmp_path / name, "", limits=PLENTY), python="", torch="none")
            found[name] = ran(job, tmp_path / "node").record
        shared = [each.name for each in (tmp_path / "cache").rglob("*") if each.name.startswith("stem")]
    for record in found.values():
        assert record.environment and record.python and record.torch == "2.7", record
        assert record.outcome is not JobOutcome.ENVIRONMENT_FAILED
    assert not shared and not mark.exists()


EATS = "kept = []\nwhile True:\n    kept.append(b'1' * 50_000_000)\n"
FILLS = "import itertools\nfor n in itertools.count():\n    open(f'data-{n}', 'wb').write(bytes(5_000_000))\n"
ENDLESS = "import time\ntime.sleep(100_000)\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "limits", "expected"),
    [
        (
            EATS,
            JobLimits(memory=1.2, seconds=1800.0),
            (JobOutcome.OUT_OF_MEMORY, "the job took more than 1.2 GB of memory"),
        ),
        (FILLS, JobLimits(disk=0.3, seconds=1800.0), (JobOutcome.OUT_OF_DISK, "the job took more than 0.3 GB of disk")),
        (ENDLESS, JobLimits(seconds=20.0), (JobOutcome.TIMED_OUT, "the job did not end within 20 s")),
    ],
)
def test_limits(tmp_path: Path, program: str, limits: JobLimits, expected: tuple[JobOutcome, str]) -> None:
    job = program_job(tmp_path / "program", program, limits=limits, sandbox=not why_no_sandbox())
    assert outcome(job, tmp_path / "node") == expected


LOOKS = """
import json, os, socket, sys
def tried(act):
    try:
        return act()
    except OSError as error:
        return type(error).__name__
def connected(port):
    socket.create_connection(("127.0.0.1", port), 5)
    return "connected"
def written(path):
    open(path, "w").write("theirs")
    return "written"
result = {
    "names": sorted(name for name in os.environ if "TOKEN" in name or "SECRET" in name),
    "others": tried(lambda: os.listdir(OTHERS)),
    "cache": tried(lambda: os.listdir(CACHE)),
    "home": tried(lambda: open(SECRET).read()),
    "network": tried(lambda: connected(PORT)),
    "outside": [tried(lambda: written(path)) for path in OUTSIDE],
    "pids": sum(name.isdigit() for name in os.listdir("/proc")) < 60,
}
sys.exit(json.dumps(result))
"""


@bubblewrap
@pytest.mark.slow
def test_what_a_hostile_program_can_reach(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    node, home = tmp_path / "node", tmp_path / "home"
    home.mkdir()
    (home / "secret").write_text("secret")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_secret")
    monkeypatch.setenv("MY_SECRET", "secret")
    outside = [str(tmp_path / "mark"), "/usr/mark", f"{os.path.dirname(sys.executable)}/mark", "/mark", "/run/mark"]
    nodes = NodeFolders(node)
    with nodes.job("another") as other, socket.create_server(("127.0.0.1", 0)) as server:
        (other.files / "private").write_text("private")
        given: dict[str, Any] = {
            "OTHERS": str(other.files),
            "CACHE": str(nodes.clones),
            "SECRET": str(home / "secret"),
            "PORT": server.getsockname()[1],
            "OUTSIDE": outside,
        }
        program = "".join(f"{name} = {value!r}\n" for name, value in given.items()) + LOOKS
        record = run_job(program_job(tmp_path / "program", program, limits=PLENTY), nodes, "here", "1.0").record
    assert record.outcome is JobOutcome.PROGRAM_FAILED, record
    found = json.loads(record.reason)
    assert found == {
        "names": [],
        "others": "FileNotFoundError",
        "cache": "FileNotFoundError",
        "home": "FileNotFoundError",
        "network": "ConnectionRefusedError",
        "outside": found["outside"],
        "pids": True,
    }
    # What it writes to /tmp is in a folder of the job.
    assert "written" not in found["outside"][1:] and not (tmp_path / "mark").exists()


def test_artifacts_with_links_or_too_much_are_rejected(tmp_path: Path) -> None:
    folder = tmp_path / "artifact"
    (folder / "patches").mkdir(parents=True)
    (folder / "report.json").write_text("{}")
    (folder / "patches" / "0001-a.patch").write_text("a")
    assert read_artifact(folder) == (("patches/0001-a.patch", b"a"), ("report.json", b"{}"))
    assert read_artifact(tmp_path / "none") == ()

    def refused() -> str:
        with pytest.raises(Ended) as ended:
            read_artifact(folder)
        assert ended.value.outcome is JobOutcome.ARTIFACT_REJECTED
        return ended.value.reason

    (folder / "link").symlink_to("/etc/passwd")
    assert "link is not a regular file" in refused()
    (folder / "link").unlink()
    os.mkfifo(folder / "pipe")
    assert "pipe is not a regular file" in refused()
    (folder / "pipe").unlink()
    with open(folder / "large", "wb") as file:
        file.truncate(30_000_000)
    assert "larger than 20 MB" in refused()
    (folder / "large").unlink()
    (folder / "patches" / "0001-a.patch").unlink()
    (folder / "patches").rmdir()
    (folder / "patches").symlink_to(tmp_path)
    assert "patches is not a regular file" in refused()


def test_folders_of_killed_jobs_are_swept_and_those_of_living_ones_are_not(tmp_path: Path) -> None:
    nodes = NodeFolders(tmp_path)
    (tmp_path / "jobs" / "dead-0" / "files").mkdir(parents=True)
    with nodes.job("address") as first, nodes.job("address") as second:
        assert not (tmp_path / "jobs" / "dead-0").exists()
        assert first.files != second.files
        assert nodes.sweep() == 0 and first.files.is_dir() and second.files.is_dir()
    assert not list((tmp_path / "jobs").iterdir())
    with nodes.job("address") as again:
        assert again.files == first.files
