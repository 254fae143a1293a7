"""`devfix new-rule --pack` creates a project whose rules have the ids under which they will be installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from devfix.cli import status
from devfix.registry import collect
from devfix.registry.loading import rule_at
from devfix.rule_testing.lint import lint


@pytest.fixture(autouse=True)
def somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_pack_is_a_project_to_which_rules_can_be_added(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert status(["new-rule", "acme-lab/gate-open", "--pack"]) == 0
    root, package = tmp_path / "acme-lab-rules", tmp_path / "acme-lab-rules" / "src" / "acme_lab_rules"
    assert "devfix test acme-lab-rules/src/acme_lab_rules/gate_open.md" in capsys.readouterr().out
    assert status(["new-rule", "acme-lab/gate-shut", "--in", str(root / "src")]) == 0
    assert {path.name for path in package.iterdir()} == {
        "__init__.py", "gate_open.md", "gate_open.py", "gate_shut.md", "gate_shut.py",
    }  # fmt: skip
    assert {"acme-lab/gate-open", "acme-lab/gate-shut"} <= {rule.id for rule in collect([package]).rules}
    assert rule_at(package / "gate_open.py").id == "acme-lab/gate-open"
    assert lint([package]) == []
    workflow = yaml.safe_load((root / ".github" / "workflows" / "rules.yml").read_text())
    assert [step["run"] for step in workflow["jobs"]["rules"]["steps"] if "run" in step][1:] == [
        "devfix lint-rules src",
        "python -m pytest",
    ]


def test_a_pack_that_is_there_is_not_overwritten(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "acme-rules").mkdir()
    assert status(["new-rule", "acme/gate-open", "--pack"]) == 2
    assert "acme-rules: is there already, and is not overwritten" in capsys.readouterr().err
    assert list((tmp_path / "acme-rules").iterdir()) == []


@pytest.mark.slow
def test_a_new_pack_can_be_built_with_its_pages(tmp_path: Path) -> None:
    assert status(["new-rule", "acme/gate-open", "--pack"]) == 0
    build = f"from setuptools import build_meta; build_meta.build_wheel({str(tmp_path)!r})"
    done = subprocess.run([sys.executable, "-c", build], cwd=tmp_path / "acme-rules", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    (wheel,) = tmp_path.glob("*.whl")
    listed = subprocess.run(
        [sys.executable, "-m", "zipfile", "-l", str(wheel)], capture_output=True, text=True, check=True
    )
    assert "acme_rules/gate_open.md" in listed.stdout and "entry_points.txt" in listed.stdout
