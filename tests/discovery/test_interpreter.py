"""Which interpreter runs the program, and what it is asked."""

from __future__ import annotations

import os
import sys
import venv
from pathlib import Path

import pytest

from devfix.discovery import examine, interpreter
from devfix.errors import UserError
from devfix.model import World, WorldChoice
from devfix.pipeline.setup import world_for

PYTHON = Path(sys.executable)


def test_the_repositorys_own_environment_comes_before_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (elsewhere := tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(elsewhere)
    assert interpreter(tmp_path) == PYTHON
    (tmp_path / ".git").mkdir()
    venv.create(tmp_path / ".venv", symlinks=True)
    own = tmp_path / ".venv" / "bin" / "python"
    (tmp_path / "a" / "b").mkdir(parents=True)
    assert interpreter(tmp_path) == own
    assert interpreter(tmp_path / "a" / "b") == own
    assert interpreter(tmp_path, str(tmp_path / ".venv")) == own
    assert interpreter(tmp_path, str(PYTHON)) == PYTHON
    assert interpreter(tmp_path, ".venv/bin/python") == own


def test_a_path_counts_from_where_one_stands_and_in_a_configuration_from_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        venv.create(folder / ".venv", symlinks=True)
    monkeypatch.chdir(here)
    inside = Path(".venv", "bin", "python")
    assert interpreter(there, str(inside)) == here / inside
    assert interpreter(there, str(inside), written_in=there) == there / inside
    assert interpreter(there / "a", ".venv", written_in=there) == there / ".venv" / "bin" / "python"


def test_an_environment_above_the_repository_is_not_its_own(tmp_path: Path) -> None:
    venv.create(tmp_path / ".venv", symlinks=True)
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    assert interpreter(tmp_path / "repository") == PYTHON


def test_a_name_is_looked_up_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    venv.create(tmp_path / "e", symlinks=True)
    monkeypatch.setenv("PATH", str(tmp_path / "e" / "bin"), prepend=os.pathsep)
    assert interpreter(tmp_path, "python") == tmp_path / "e" / "bin" / "python"


def test_an_interpreter_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    for asked in ("no-such-python", str(tmp_path / "bin" / "python"), str(tmp_path)):
        with pytest.raises(UserError, match="no such interpreter"):
            interpreter(tmp_path, asked)


def test_examine_tells_what_an_interpreter_has(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    told = examine(PYTHON, tmp_path)
    assert told.torch == torch.__version__
    assert told.python == tuple(sys.version_info[:3])
    assert told.gpus == torch.cuda.device_count()


def test_an_interpreter_without_torch_is_one_line(tmp_path: Path) -> None:
    venv.create(tmp_path / ".venv", symlinks=True)
    with pytest.raises(UserError, match="has no torch"):
        examine(tmp_path / ".venv" / "bin" / "python", tmp_path)


def test_a_build_for_intels_gpus_is_known_and_has_no_real_world(tmp_path: Path) -> None:
    program = tmp_path / "python"
    facts = '{"python": [3, 11, 1], "torch": "2.9.0", "gpus": 0, "pytest": true, "xpu": true}'
    program.write_text(f"#!/bin/sh\necho 'devfix-interpreter {facts}'\n")
    program.chmod(0o755)
    found = examine(program, tmp_path)
    assert found.pytest and not found.ipykernel and found.is_for_xpu
    with pytest.raises(UserError, match=r"--world real: .* only simulates; use --world xpu"):
        world_for(WorldChoice.REAL, 1, found)
    assert world_for(WorldChoice.AUTO, 1, found) == World("simulated", 1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("#!/bin/sh\necho broken >&2\nexit 3\n", "does not work as a Python interpreter .broken."),
        ("#!/no/such/program\n", "does not work"),
        (
            """#!/bin/sh\necho 'devfix-interpreter {"python": [3, 8, 1], "torch": "2.1.0", "gpus": 0}'\n""",
            "Python 3.8.1",
        ),
        (
            """#!/bin/sh\necho 'devfix-interpreter {"python": [3, 10, 1], "torch": "2.5.1", "gpus": 0}'\n""",
            "torch 2.5.1",
        ),
    ],
)
def test_an_interpreter_that_cannot_be_used_is_one_line(tmp_path: Path, text: str, words: str) -> None:
    program = tmp_path / "python"
    program.write_text(text)
    program.chmod(0o755)
    with pytest.raises(UserError, match=words) as caught:
        examine(program, tmp_path)
    assert "\n" not in str(caught.value)


def test_a_torch_that_cannot_be_imported_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("raise OSError('libc is too old')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))  # what lies in the folder at hand alone is not looked at
    with pytest.raises(UserError, match=r"cannot import torch \(OSError: libc is too old"):
        examine(PYTHON, tmp_path)
