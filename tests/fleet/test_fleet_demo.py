"""`make fleet-demo`: programs of the corpus as repositories of a fleet."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import waiting
from git_repositories import git

from devfix.fleet.planning import read_fleet_file

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import fleet_demo  # noqa: E402


def test_twenty_repositories_are_made_of_the_corpus(tmp_path: Path) -> None:
    (tmp_path / "fleet").mkdir()
    (tmp_path / "fleet" / "left.txt").touch()
    fleet = read_fleet_file(fleet_demo.write_fleet(fleet_demo.select_cases(()), tmp_path / "fleet"))
    assert len(fleet.repositories) == 20 and not (tmp_path / "fleet" / "left.txt").exists()
    for each in fleet.repositories:
        assert git(Path(each.address), "status", "--porcelain") == ""
        assert not (Path(each.address) / "case.toml").exists()
        assert each.settings.python == sys.executable  # so that nothing is installed


@pytest.mark.slow
def test_the_demo_repairs_and_reports(tmp_path: Path) -> None:
    command = [sys.executable, ROOT / "benchmarks" / "fleet_demo.py", "--print", "--folder", tmp_path / "fleet"]
    done = subprocess.run([*command, "plain-list-layers"], capture_output=True, text=True, timeout=waiting.HANGS)
    assert done.returncode == 0, done.stderr
    report = Path(done.stdout.splitlines()[-1])
    assert report == tmp_path / "fleet" / "report.html" and "plain-list-layers" in report.read_text()
    assert "torch" in (tmp_path / "fleet" / "plain-list-layers" / "main.py").read_text()


def test_an_unknown_case_is_one_line(tmp_path: Path) -> None:
    command = [sys.executable, ROOT / "benchmarks" / "fleet_demo.py", "--folder", tmp_path / "fleet", "none"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and "no such case" in done.stderr and not (tmp_path / "fleet").exists()
