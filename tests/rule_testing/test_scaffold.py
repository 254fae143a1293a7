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
from devfix.rule_testing.authoring.lint import lint
from devfix.rule_testing.pages.page import read_page


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


TRAIN = """import torch
from parts.gate import Gate

device = "cuda" if torch.cuda.is_available() else "cpu"
print(Gate()(torch.ones(3).to(device)))
"""
GATE = """import torch


class Gate:
    values = torch.ones(3)

    def __call__(self, x):
        return x * self.values
"""


@pytest.mark.slow
def test_a_failing_program_becomes_the_first_case(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    files = {"train.py": TRAIN, "parts/__init__.py": "", "parts/gate.py": GATE, "other.py": "raise SystemExit\n"}
    for name, text in files.items():
        (tmp_path / "program" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "program" / name).write_text(text)
    assert status(["new-rule", "acme/gate-open", "--from", "python program/train.py"]) == 0
    case, other = read_page(tmp_path / "rules" / "acme" / "gate_open.md").cases
    assert {name: data.decode() for name, data in case.before.items()} == {
        "main.py": TRAIN, "parts/__init__.py": "", "parts/gate.py": GATE,
    }  # fmt: skip
    assert case.name == "train" and case.failure is not None and case.after is not None
    assert case.failure.startswith("device-mismatch at parts/gate.py:8\nRuntimeError: Expected all tensors")
    assert other.after is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "what"),
    [
        ("python train.py --epochs 1", "give a program without arguments or options"),
        ("./train.sh", "give a program without arguments or options"),
        ("python missing.py", "there is no program missing.py"),
        ("python clean.py", "does not fail on a device"),
        ("python imports_main.py", "imports a module main.py, which is the name of a case's program"),
    ],
)
def test_what_cannot_be_a_case_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str, what: str
) -> None:
    for name, text in {"clean.py": "print(1)\n", "main.py": "", "imports_main.py": "import main\n"}.items():
        (tmp_path / name).write_text(text)
    assert status(["new-rule", "acme/gate-open", "--from", command]) == 2
    assert what in capsys.readouterr().err and not (tmp_path / "rules").exists()
