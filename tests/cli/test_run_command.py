"""`devfix run` as a user runs it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from git_repositories import make_repository

from devfix.report.render.machine_readable.json import run_schema

FAILS = "import torch\nx = torch.ones(2, device='cuda')\ny = torch.ones(2)\nprint('before')\nx + y\n"


def run(folder: Path, program: str, *options: str, after: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    (folder / "main.py").write_text(program)
    command = [
        sys.executable,
        "-m",
        "devfix",
        "run",
        "--world",
        "simulated",
        *options,
        "--",
        "python",
        "main.py",
        *after,
    ]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, input="given\n")


@pytest.mark.slow
def test_output_input_arguments_and_exit_code_pass_through(tmp_path: Path) -> None:
    program = "import sys, torch\nprint(input(), sys.argv[1:], torch.cuda.device_count())\nsys.exit(5)\n"
    done = run(tmp_path, program, "--gpus", "3", after=("--format", "json", "--map"))
    assert done.stdout == "given ['--format', 'json', '--map'] 3\n"
    assert (done.returncode, done.stderr) == (5, "")


def test_a_device_failure_is_explained_on_standard_error(tmp_path: Path) -> None:
    done = run(tmp_path, FAILS)
    assert (done.returncode, done.stdout) == (1, "before\n")
    assert "Device failure on a simulated GPU at main.py:5\n> x + y\n" in done.stderr
    assert "created at main.py:3   y = torch.ones(2)" in done.stderr


@pytest.mark.slow
def test_places_are_files_that_an_editor_finds_from_the_current_folder(tmp_path: Path) -> None:
    model = "import torch\ndef add(x):\n    return x + torch.ones(2)\n"
    root = make_repository(tmp_path / "repository", {"lib/model.py": model, "scripts/main.py": ""})
    inner = root / "scripts"
    start = "import sys\nsys.path.insert(0, '../lib')\nimport torch\nfrom model import add\n"
    done = run(inner, start + "add(torch.zeros(2).cuda().cpu().cuda())\n", "--map")
    places = re.findall(r"(\S+\.py):(\d+)", done.stderr[done.stderr.index("Device failure") :])
    assert {place for place, _ in places} == {"main.py", "../lib/model.py"}
    assert all((inner / place).is_file() for place, _ in places)


@pytest.mark.slow
def test_json_is_one_object_and_the_programs_output_goes_beside_it(tmp_path: Path) -> None:
    done = run(tmp_path, FAILS, "--format", "json")
    data = json.loads(done.stdout)
    jsonschema.validate(data, run_schema(), jsonschema.Draft202012Validator)
    assert (done.returncode, data["exit_code"], data["outcome"]) == (1, 1, "failed")
    assert data["failure"]["at"]["path"] == "main.py"
    assert data["command"] == "python main.py"
    assert "before\n" in done.stderr


@pytest.mark.slow
def test_the_map_shows_modules_and_copies(tmp_path: Path) -> None:
    program = "import torch\nmodel = torch.nn.Linear(2, 2)\nmodel.to('cuda')\nother = torch.nn.Linear(2, 2)\n"
    done = run(tmp_path, program, "--map")
    assert done.returncode == 0
    assert "model Linear  cuda:0 (2)" in done.stderr
    assert "other Linear  cpu (2)" in done.stderr
    assert "main.py:3  model.to('cuda')" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "options", "code"),
    [
        ("import os, torch\nos.kill(os.getpid(), 9)\n", [], 128 + 9),
        ("import time\ntime.sleep(100)\n", ["--timeout", "3"], 124),
        ("raise KeyError('mine')\n", [], 1),
    ],
)
def test_other_endings_have_the_codes_of_a_shell(tmp_path: Path, program: str, options: list[str], code: int) -> None:
    assert run(tmp_path, program, *options).returncode == code


def test_no_command_is_wrong_usage() -> None:
    done = subprocess.run([sys.executable, "-m", "devfix", "run"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "COMMAND" in done.stderr
