"""Which interpreter runs the program, and what it is asked."""

from __future__ import annotations

import json
import os
import sys
import textwrap
import venv
from pathlib import Path

import pytest

from devfix.discovery import examine, interpreter
from devfix.errors import UserError
from devfix.model import DeviceType, World, WorldChoice
from devfix.pipeline.opening.setup import world_for

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


REPORTED = {"python": [3, 11, 1], "torch": "2.9.0", "pytest": True, "ipykernel": False}


@pytest.mark.parametrize(
    ("device", "seen", "gpus", "real", "automatic"),
    [
        ("cuda", 2, 2, World("real", 2), World("real", 2)),
        ("mps", 1, 1, World("real", 1, device=DeviceType.MPS), World("simulated", 1)),
        ("xpu", 2, 2, World("real", 2, device=DeviceType.XPU), World("simulated", 2)),
        ("mps", 1, 2, None, World("simulated", 2)),
        ("xpu", 1, 2, None, World("simulated", 2)),
        ("cuda", 1, 2, None, World("simulated", 2)),
    ],
)
def test_the_real_world_has_the_gpus_that_the_interpreter_sees(
    tmp_path: Path, device: str, seen: int, gpus: int, real: World | None, automatic: World
) -> None:
    facts = json.dumps({**REPORTED, "gpus": seen, "device": device})
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\necho 'devfix-interpreter {facts}'\n")
    program.chmod(0o755)
    found = examine(program, tmp_path)
    assert found.pytest and not found.ipykernel and (found.device, found.gpus) == (DeviceType(device), seen)
    assert world_for(WorldChoice.AUTO, gpus, found) == automatic
    assert world_for(WorldChoice.SIMULATED, gpus, found) == World("simulated", gpus)
    assert world_for(WorldChoice.MPS, 1, found) == World("simulated", 1, device=DeviceType.MPS)
    if real is None:
        with pytest.raises(UserError, match=f"--world real: the interpreter sees {seen} GPUs, not {gpus}"):
            world_for(WorldChoice.REAL, gpus, found)
    else:
        assert world_for(WorldChoice.REAL, gpus, found) == real


@pytest.mark.parametrize(
    ("cuda", "mps", "xpu", "device", "gpus"),
    [(0, True, 0, "mps", 1), (0, False, 2, "xpu", 2), (1, False, 2, "cuda", 1), (0, False, 0, "cuda", 0)],
)
def test_an_interpreter_is_asked_for_every_kind_of_gpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cuda: int, mps: bool, xpu: int, device: str, gpus: int
) -> None:
    (tmp_path / "torch").mkdir()
    answers = f"""
        from types import SimpleNamespace as Module
        __version__ = "2.9.0"
        cuda = Module(device_count=lambda: {cuda})
        backends = Module(mps=Module(is_available=lambda: {mps}))
        xpu = Module(is_available=lambda: {xpu} > 0, device_count=lambda: {xpu})
    """
    (tmp_path / "torch" / "__init__.py").write_text(textwrap.dedent(answers))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    found = examine(PYTHON, tmp_path)
    assert (found.device, found.gpus) == (DeviceType(device), gpus)


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
