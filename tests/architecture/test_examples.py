"""The example of a third-party pack: built, installed into a clean environment, listed, explained, tested, used."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from wheels import ROOT, installed, tracked

EXAMPLE = ROOT / "examples" / "acme-rules"
RULE = "acme/wrapper-device-not-passed"
BUFFERS = """import torch


def scratch(shape, device=None):
    return torch.zeros(shape, device=device)
"""
PROGRAM = """import torch
from buffers import scratch

device = "cuda" if torch.cuda.is_available() else "cpu"
signal = torch.ones(4, device=device)
work = scratch(4)
print((signal + work).tolist())
"""


def built(source: Path, folder: Path) -> Path:
    build = f"from setuptools import build_meta; build_meta.build_wheel({str(folder)!r})"
    done = subprocess.run([sys.executable, "-c", build], cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return max(folder.glob("*.whl"), key=lambda wheel: wheel.stat().st_mtime_ns)


@pytest.fixture(scope="module")
def devfix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command, in an environment into which two wheels were installed: devfix's and the pack's."""
    folder = tmp_path_factory.mktemp("wheels")
    pack = shutil.copytree(EXAMPLE, tmp_path_factory.mktemp("pack") / "acme-rules")
    wheels = [built(tracked(tmp_path_factory.mktemp("source")), folder), built(pack, folder)]
    python = installed(tmp_path_factory.mktemp("clean") / "environment", *map(str, wheels))
    return python.with_name("devfix")


def run(command: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run([command, *arguments], cwd=cwd, capture_output=True, text=True, env=environment)


def repaired(devfix: Path, folder: Path, program: str = PROGRAM, settings: str = "") -> dict[str, Any]:
    """Repair a program in a repository of its own, with what the environment has."""
    folder.mkdir()
    files = {"main.py": program, "buffers.py": BUFFERS, "pyproject.toml": settings}
    for name, content in files.items():
        (folder / name).write_text(content)
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for command in (["init", "-q"], ["add", "-A"], [*who, "commit", "-q", "-m", "A program"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    done = run(devfix, "repair", ".", "--run", "python main.py", "--world", "simulated", "--format", "json", cwd=folder)
    assert done.returncode in (0, 1), done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


@pytest.mark.slow
def test_the_pack_is_listed_and_explained(devfix: Path, tmp_path: Path) -> None:
    listed = json.loads(run(devfix, "rules", "--format", "json", cwd=tmp_path).stdout)
    (found,) = [rule for rule in listed["rules"] if rule["id"] == RULE]
    assert (found["origin"], found["safety"]) == ("acme-rules", "safe")
    assert found["title"] == "A wrapper takes a device, and its caller does not pass one on."
    assert {rule["origin"] for rule in listed["rules"]} == {"devfix", "acme-rules"}
    assert listed["problems"] == []
    table = run(devfix, "rules", cwd=tmp_path)
    assert RULE in table.stdout and not table.stderr
    told = run(devfix, "explain", RULE, cwd=tmp_path).stdout
    assert "## Is the fix safe?" in told
    assert 'wrappers = ["scratch", "make_scratch"]' in told


@pytest.mark.slow
def test_the_pack_is_tested_where_it_is_installed(devfix: Path, tmp_path: Path) -> None:
    done = run(devfix, "test", "acme", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 rules, 3 cases: all pass" in done.stdout


@pytest.mark.slow
def test_the_packs_own_pytest_runs_its_pages(devfix: Path, tmp_path: Path) -> None:
    pack = shutil.copytree(EXAMPLE, tmp_path / "acme-rules")
    done = run(devfix.with_name("python"), "-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=pack)
    assert "4 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.slow
def test_a_program_is_repaired_with_the_pack(devfix: Path, tmp_path: Path) -> None:
    report = repaired(devfix, tmp_path / "program")
    assert report["outcome"] == "repaired", report
    (fix,) = report["fixes"]
    assert fix["rule"] == RULE
    assert "+work = scratch(4, device=device)" in report["diff"]


@pytest.mark.slow
def test_a_repository_configures_the_rule(devfix: Path, tmp_path: Path) -> None:
    settings = f'[tool.devfix]\nselect = ["acme"]\n[tool.devfix.rules."{RULE}"]\n'
    report = repaired(devfix, tmp_path / "other", settings=settings + 'wrappers = ["reserve"]\n')
    assert report["outcome"] == "unrepaired"
    report = repaired(devfix, tmp_path / "this", settings=settings + 'wrappers = ["scratch"]\n')
    assert report["outcome"] == "repaired"


@pytest.mark.slow
def test_a_comment_keeps_the_rule_away(devfix: Path, tmp_path: Path) -> None:
    program = PROGRAM.replace("scratch(4)", f"scratch(4)  # devfix: ignore[{RULE}] it is filled later")
    report = repaired(devfix, tmp_path / "program", program, '[tool.devfix]\nselect = ["acme"]\n')
    assert report["outcome"] == "unrepaired"
    assert f"main.py:6: rule {RULE} is suppressed by a comment: it is filled later" in report["notes"]
