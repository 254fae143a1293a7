"""A run is clean only where the probe was in every Python process that imported torch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from probe_programs import run_program
from verdict_programs import project

import devfix
from devfix.model import Outcome, Report

# No rule repairs it: the line that fails is in no file.
MISMATCH = "import torch\nif torch.cuda.is_available():\n    exec('torch.zeros(2).cuda() + torch.zeros(2)')\n"
PLAIN = "import torch\ntorch.ones(2).sum()\n"


def repaired(folder: Path, program: str, command: str = "python main.py", **files: str) -> Report:
    named = {name.replace("_dot_", "."): text for name, text in files.items()}
    return devfix.repair(project(folder, program, **named), run=command, world="simulated", dry_run=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("child", "why"),
    [
        ("[sys.executable, '-I', 'child.py']", "-I makes Python ignore PYTHONPATH"),
        ("[sys.executable, '-W', 'ignore', '-Es', '-c', 'import torch']", "-E makes Python ignore PYTHONPATH"),
        ("['/bin/sh', '-c', 'env -i ' + sys.executable + ' child.py']", "DEVFIX_PROBE and PYTHONPATH"),
        ("['/bin/sh', '-c', 'PYTHONPATH= ' + sys.executable + ' child.py']", "(PYTHONPATH)"),
    ],
)
def test_a_child_without_the_probe_is_named_and_the_run_is_not_clean(child: str, why: str, tmp_path: Path) -> None:
    main = f"import subprocess, sys\nimport torch\nsubprocess.run({child}, check=True)\n"
    report = repaired(tmp_path, main, child_dot_py=PLAIN)
    assert report.outcome == "error" and report.last_run is not None
    assert report.last_run.outcome is Outcome.UNOBSERVED
    (said,) = report.last_run.unobserved
    assert "imported torch without devfix's probe" in said and why in said
    assert report.last_run.internal_errors[0] == said


@pytest.mark.slow
def test_the_programs_own_failure_counts_for_more(tmp_path: Path) -> None:
    main = f"import subprocess, sys\nsubprocess.run([sys.executable, '-I', '-c', 'import torch'])\n{MISMATCH}"
    report = repaired(tmp_path, main)
    assert report.outcome == "unrepaired" and report.last_run is not None
    assert report.last_run.outcome is Outcome.FAILED and report.last_run.unobserved


@pytest.mark.slow
@pytest.mark.parametrize(
    "program",
    [
        "import subprocess, sys\nsubprocess.run([sys.executable, '-I', '-c', 'print(1)'], check=True)\n" + PLAIN,
        "import os\nimport torch\nfor _ in range(3):\n    if os.fork() == 0:\n        os._exit(0)\n    os.wait()\n",
        "import importlib.util\nassert importlib.util.find_spec('torch')\n" + PLAIN,
        "import torch.multiprocessing as mp\ndef f(i):\n    pass\nif __name__ == '__main__':\n    mp.spawn(f)\n",
    ],
)
def test_what_is_observed_stays_clean(program: str, tmp_path: Path) -> None:
    report = repaired(tmp_path, program)
    assert report.outcome == "clean" and report.last_run is not None and not report.last_run.internal_errors, (
        report.last_run
    )


@pytest.mark.slow
def test_asking_whether_torch_is_there_does_not_keep_the_probe_out(tmp_path: Path) -> None:
    source = (
        "import importlib.util\nimportlib.util.find_spec('torch')\nimport torch\nprint(torch.cuda.device_count())\n"
    )
    assert run_program(tmp_path, source, gpus=2).done.stdout == "2\n"


@pytest.mark.slow
def test_a_run_says_it_too(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(PLAIN)
    shell = f"env -u PYTHONPATH {sys.executable} main.py"
    words = [sys.executable, "-m", "devfix", "run", "--world", "simulated", "--format", "json", "--", "sh", "-c", shell]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    told = json.loads(done.stdout)
    assert told["outcome"] == "not observed" and "(PYTHONPATH)" in told["internal_errors"][0], done.stderr


@pytest.mark.slow
def test_a_probe_that_cannot_begin_is_told(tmp_path: Path) -> None:
    """The program puts a module of its own in the way of what the probe imports."""
    main = "import sys, types\nsys.modules['devfix probe'] = types.ModuleType('devfix probe')\n" + PLAIN
    report = repaired(tmp_path, main)
    assert report.outcome == "error" and report.last_run is not None
    assert "the probe could not begin" in report.last_run.unobserved[0]


@pytest.mark.slow
@pytest.mark.parametrize("command", ["env PYTHONPATH=lib python main.py", "A=1 PYTHONPATH=lib python main.py"])
def test_a_command_that_sets_where_modules_are_is_observed(command: str, tmp_path: Path) -> None:
    main = f"import helper\n{MISMATCH}"
    report = repaired(tmp_path, main, command, **{"lib/helper_dot_py": ""})
    assert report.outcome == "unrepaired" and report.last_run is not None and not report.last_run.unobserved
