"""A fault in an installed distribution is named, proven on a copy, and never edited."""

import subprocess
import sys
from pathlib import Path

import pytest

import devfix
from devfix.report.record import record
from devfix.report.render.pull_request.summary import summary
from devfix.report.render.terminal.github import workflow_commands

pytestmark = pytest.mark.slow

PROJECT = """[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
[project]
name = "acme-maps"
version = "{version}"
dependencies = {needs}
"""
FAULTY = """import torch


def coordinates(height, device):
    rows = torch.zeros(height, 2, device=device)
    return rows[:, 0] + torch.arange(height)
"""
SOUND = FAULTY.replace("arange(height)", "arange(height, device=device)")
MAIN = """import torch
from acme_maps import coordinates

device = "cuda" if torch.cuda.is_available() else "cpu"
print(coordinates(3, device).tolist())
"""


def wheel(folder: Path, version: str, code: str, *needs: str) -> None:
    source = folder / f"acme-{version}"
    (source / "acme_maps").mkdir(parents=True)
    (source / "pyproject.toml").write_text(PROJECT.format(version=version, needs=list(needs)))
    (source / "acme_maps" / "__init__.py").write_text(code)
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(folder)]
    subprocess.run([*command, str(source)], check=True)


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository that uses the faulty release of a distribution, of which there are others.

    One is sound and older, one faulty, and the newest is sound, but needs another acme-base than is installed.
    The acme-plan that all of them need is not installed either.
    """
    wheels, site = tmp_path / "wheels", tmp_path / "site-packages"
    wheels.mkdir()
    for version, code in (("1.0", SOUND), ("1.1", FAULTY), ("1.2", FAULTY)):
        wheel(wheels, version, code, "acme-plan>=9", "absent>=1", "acme-base>=2; extra == 'new'")
    wheel(wheels, "1.3", SOUND, "acme-base>=2; python_version >= '3'")
    for name in ("base", "plan"):
        (site / f"acme_{name}-1.0.dist-info").mkdir(parents=True)
        (site / f"acme_{name}-1.0.dist-info" / "METADATA").write_text(f"Name: acme-{name}\nVersion: 1.0\n")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(site), "acme-maps==1.1"]
    subprocess.run(command, check=True)
    monkeypatch.setenv("PYTHONPATH", str(site))
    repository = tmp_path / "repository"
    repository.mkdir()
    (repository / "main.py").write_text(MAIN)
    (repository / "requirements.txt").write_text("torch\nacme-maps>=1.0\n")
    git = ["git", "-C", str(repository), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True)
    return repository


def test_names_the_distribution_and_the_release_to_pin(case: Path) -> None:
    report = devfix.repair(case, run="python main.py", world="simulated", find_working_version=True)
    assert (report.outcome, report.branch) == ("dependency-fault", "")
    found = report.dependency_fault
    assert found is not None
    assert (found.distribution, found.version, found.path) == ("acme-maps", "1.1", "acme_maps/__init__.py")
    assert "torch.arange(height, device=device)" in found.diff
    assert found.pin == "1.0"
    assert "acme-maps 1.3 was not tried: it needs acme-base>=2, and 1.0 is installed" in report.notes
    assert [edit.after for edit in found.pin_edits] == [b"torch\nacme-maps==1.0\n"]
    installed = case.parent / "site-packages" / "acme_maps" / "__init__.py"
    assert installed.read_text() == FAULTY
    told = record(report)
    for shown in (summary(told), workflow_commands(told)):
        assert "acme-maps 1.1" in shown and "acme_maps/__init__.py:" in shown and "acme-maps==1.0" in shown
    assert "+acme-maps==1.0" in summary(told) and "device=device)" in summary(told)


def test_is_no_excuse_for_a_fault_of_the_repository(case: Path) -> None:
    (case / "main.py").write_text(
        MAIN.replace("coordinates(3, device)", "(torch.zeros(3, device=device) + torch.arange(3))")
    )
    subprocess.run(
        ["git", "-C", str(case), "-c", "user.name=a", "-c", "user.email=a@e.org", "commit", "-qam", "b"], check=True
    )
    report = devfix.repair(case, run="python main.py", world="simulated", dry_run=True)
    assert (report.outcome, report.dependency_fault) == ("repaired", None)
