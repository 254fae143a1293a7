"""What surrounds a program is as on a machine with GPUs: its variables, its search path, its modules."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from git_repositories import make_repository
from probe_programs import run_program
from verdict_programs import PROGRAM, project

import devfix
from devfix.discovery import examine
from devfix.execution.prefork import PreforkServer
from devfix.execution.search_path import with_interpreter
from devfix.probe.simulation.accelerators.visible_devices import needed_gpus

PYTHON = Path(sys.executable)
PRINTS = "import os, torch\n{before}\nprint(os.environ.get('CUDA_VISIBLE_DEVICES'), torch.cuda.device_count())\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("value", "gpus", "seen"),
    [
        ("0", 2, 1),
        ("1", 2, 1),
        ("1,0", 2, 2),
        ("0,1,2", 2, 2),
        ("", 2, 0),
        ("-1", 2, 0),
        ("2", 2, 0),
        ("0,-1,1", 2, 1),
        ("0,0", 2, 0),
        ("none", 2, 0),
        ("GPU-00000001", 2, 1),
        ("GPU-0", 2, 0),
        ("MIG-GPU-1/0/0", 2, 0),
    ],
)
def test_the_program_sets_which_gpus_it_sees(
    value: str, gpus: int, seen: int, tmp_path: Path, warm: PreforkServer
) -> None:
    source = f"""
        import os
        os.environ["CUDA_VISIBLE_DEVICES"] = {value!r}
        import torch
        print(torch.cuda.device_count(), torch.cuda.is_available(), len(torch.cuda.get_rng_state_all()))
        try:
            print(torch.zeros(1, device="cuda").device)
        except RuntimeError as error:
            print(error)
    """
    # Only two processes import torch after the variable is set, as programs do: each takes two seconds.
    ran = run_program(tmp_path, source, gpus=gpus, warm=None if value in ("", "1") else warm)
    made = "cuda:0" if seen else "No CUDA GPUs are available"
    assert ran.done.stdout == f"{seen} {seen > 0} {seen}\n{made}\n", ran.done.stderr
    told = [note for note in ran.trace["notes"] if "CUDA_VISIBLE_DEVICES" in note]
    assert bool(told) == (seen != gpus)
    assert not ran.trace["internal_errors"]


@pytest.mark.parametrize(
    ("value", "gpus", "count"),
    [
        (None, 1, 0),
        ("", 1, 0),
        ("0", 1, 0),
        ("3", 1, 4),
        ("1, 2", 2, 3),
        ("2,-1,5", 2, 3),
        ("-1", 1, 0),
        ("GPU-1", 1, 0),
    ],
)
def test_how_many_gpus_a_machine_must_have_for_the_variable(value: str | None, gpus: int, count: int) -> None:
    assert needed_gpus(value, gpus) == count


@pytest.mark.slow
def test_it_may_set_them_until_cuda_starts(tmp_path: Path) -> None:
    source = """
        import os, torch
        print(torch.cuda.device_count())
        os.environ["CUDA_VISIBLE_DEVICES"] = "1"
        print(torch.cuda.device_count(), torch.device("cuda:0"))
        x = torch.zeros(1, device="cuda")
        os.environ["CUDA_VISIBLE_DEVICES"] = "0,1"
        print(torch.cuda.device_count())
        try:
            x.to("cuda:1")
        except RuntimeError as error:
            print("ordinal" in str(error))
    """
    ran = run_program(tmp_path, source, gpus=2, current=1)
    assert ran.done.stdout == "2\n1 cuda:0\n1\nTrue\n", ran.done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("users", "gpus", "seen"), [(None, 1, "None 1"), ("0,1", 2, "0,1 2"), ("", 1, "None 1"), ("0", 2, "None 2")]
)
def test_the_variable_is_the_users_or_not_set(
    users: str | None, gpus: int, seen: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if users is None:
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    else:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", users)
    root = project(tmp_path, PRINTS.format(before=""))
    report = devfix.repair(root, run="python main.py", world="simulated", gpus=gpus, dry_run=True)
    assert report.last_run is not None and report.last_run.stdout == f"{seen}\n", report.last_run


@pytest.mark.slow
def test_real_gpus_are_hidden_from_the_driver_and_not_from_the_program(tmp_path: Path) -> None:
    source = """
        import ctypes, importlib, os, subprocess, sys, torch
        getenv = ctypes.CDLL(None).getenv
        getenv.restype = ctypes.c_char_p
        importlib.import_module("devfix probe.simulation.accelerators.real_gpus").hide()
        print(getenv(b"CUDA_VISIBLE_DEVICES"), os.environ.get("CUDA_VISIBLE_DEVICES"), flush=True)
        child = "import os; print(os.environ.get('CUDA_VISIBLE_DEVICES'), [n for n in os.environ if 'DEVFIX_C' in n])"
        subprocess.run([sys.executable, "-c", child])
        importlib.import_module("devfix probe.simulation.accelerators.real_gpus").show()
        print(getenv(b"CUDA_VISIBLE_DEVICES"))
    """
    ran = run_program(tmp_path, source)
    assert ran.done.stdout == "b'' None\nNone []\nNone\n", ran.done.stderr


@pytest.mark.slow
def test_the_interpreter_comes_first_on_the_search_path(tmp_path: Path) -> None:
    root = make_repository(
        tmp_path / "project",
        {"main.py": "import sys, torch\nprint(sys.executable)\n", "run.sh": "python main.py\npython3 main.py\n"},
    )
    for command in ("bash run.sh", "env X=1 python main.py", "X=1 python main.py", "bash -c 'python - < main.py'"):
        report = devfix.repair(root, run=command, world="simulated", dry_run=True)
        assert report.outcome == "clean" and report.last_run is not None, (command, report.last_run)
        assert {Path(each).parent for each in report.last_run.stdout.split()} == {PYTHON.parent}, command


def test_names_that_are_others_beside_the_interpreter_are_led_to_it(tmp_path: Path) -> None:
    beside = tmp_path / "a place"
    for folder in (beside, tmp_path / "elsewhere"):
        folder.mkdir()
    own = beside / "python3.99"
    for path in (own, beside / "python3", tmp_path / "elsewhere" / "python"):
        path.write_text(f"#!/bin/sh\necho {path.name} $1\n")
        path.chmod(0o755)
    path = with_interpreter(str(tmp_path / "elsewhere"), own, tmp_path / "bin")
    said = [os.popen(f"PATH='{path}:/bin' {name} x").read() for name in ("python", "python3")]
    assert said == ["python3.99 x\n"] * 2
    assert with_interpreter(path, own, tmp_path / "bin") != ""


def test_what_python_writes_in_other_encodings_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "utf-16")
    assert examine(PYTHON, Path("/")).torch


@pytest.mark.slow
def test_a_package_of_the_probes_old_name_is_the_programs_own(tmp_path: Path) -> None:
    source = (
        "import torch\nimport devfix_probe\nprint(devfix_probe.MINE)\ntorch.zeros(1, device='cuda') + torch.ones(2)\n"
    )
    ran = run_program(tmp_path, source, files={"devfix_probe/__init__.py": "MINE = 'mine'\n"})
    assert ran.done.stdout == "mine\n" and ran.failure["kind"] == "device-mismatch"


@pytest.mark.slow
def test_a_sitecustomize_on_a_relative_path_is_run_in_every_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", "start")
    program = PROGRAM.replace(
        "import torch\n", "import os\n\nimport torch\n\nassert os.environ['STARTED'] == 'yes'\n", 1
    )
    root = make_repository(
        tmp_path / "project",
        {"main.py": program, "start/sitecustomize.py": "import os\nos.environ['STARTED'] = 'yes'\n"},
    )
    report = devfix.repair(root, run="python main.py", world="simulated", dry_run=True)
    assert report.outcome == "repaired", (report.notes, report.last_run)


@pytest.mark.slow
def test_a_process_that_ends_late_makes_no_folder_again(tmp_path: Path) -> None:
    source = """
        import json, os, shutil, torch
        folder = json.loads(os.environ["DEVFIX_PROBE"])["traces"]
        shutil.rmtree(folder)
    """
    assert run_program(tmp_path, source).done.exit_code == 0
    assert not (tmp_path / "traces").exists()
