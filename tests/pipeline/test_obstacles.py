"""Programs that cannot run here: one line says what is missing, and what can be done, in every format."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from git_repositories import make_repository

from devfix import pipeline
from devfix.dependencies import Declared
from devfix.model import Lack, Obstacle, Outcome, Run, World
from devfix.obstacles import Surroundings, hindrance
from devfix.report.render.machine_readable.json import read, run_schema
from devfix.report.render.pull_request.summary import summary
from devfix.report.render.terminal.github import workflow_commands
from devfix.report.render.terminal.text import text

PYTHON = Path("/env/bin/python")
SITE = "/env/lib/python3.11/site-packages"


def ended(words: str, exit_code: int = 1, outcome: Outcome = Outcome.OTHER) -> Run:
    return Run(World("simulated", 1), ("python", "main.py"), outcome, exit_code, 1.0, stderr=words)


def find_obstacle(
    words: str, tracked: tuple[str, ...] = ("main.py",), root: Path = Path("/nowhere")
) -> Obstacle | None:
    known = [Declared("opencv-python-headless", "requirements.txt", 4), Declared("lightning", "pyproject.toml", 9)]
    return hindrance(ended(words), Surroundings(PYTHON, root, "", frozenset(tracked), lambda: known))


def trace(exception: str, *frames: str) -> str:
    lines = [f'  File "{frame}", line {number}, in f\n    x()\n' for number, frame in enumerate(frames, 3)]
    return "Traceback (most recent call last):\n" + "".join(lines) + exception + "\n"


@pytest.mark.parametrize(
    ("words", "lack", "message", "advice"),
    [
        (
            trace("ModuleNotFoundError: No module named 'cv2'", "./main.py"),
            Lack.PACKAGE,
            "main.py:3 imports cv2, which is not installed in /env/bin/python; it is part of opencv-python-headless, "
            "declared in requirements.txt:4",
            "/env/bin/python -m pip install opencv-python-headless",
        ),
        (
            trace("ModuleNotFoundError: No module named 'sklearn'", "./main.py"),
            Lack.PACKAGE,
            "the repository does not declare it (it is usually part of scikit-learn)",
            "pip install scikit-learn",
        ),
        (
            trace("ModuleNotFoundError: No module named 'lightning.apps'", "./main.py"),
            Lack.PACKAGE,
            "imports lightning.apps, which the lightning installed in /env/bin/python does not have; lightning is dec",
            "install a version of lightning that has it with /env/bin/python -m pip install lightning==VERSION",
        ),
        (
            trace(f"ImportError: cannot import name 'SVC' from 'sklearn.svm' ({SITE}/sklearn/svm.py)", "./main.py"),
            Lack.PACKAGE,
            "SVC from sklearn.svm, which the sklearn installed in /env/bin/python does not have; the repository does",
            "pip install scikit-learn==VERSION",
        ),
        (
            trace("ModuleNotFoundError: No module named 'einops'", "./main.py", f"{SITE}/somelib/layers.py"),
            Lack.PACKAGE,
            "the package somelib (used at main.py:3) imports einops",
            "pip install einops",
        ),
        (
            "E   ModuleNotFoundError: No module named 'lightning'\n=== short test summary info ===\n",
            Lack.PACKAGE,
            "it is part of lightning, declared in pyproject.toml:9",
            "pip install lightning",
        ),
        (
            "[rank1]: " + trace("[rank1]: ModuleNotFoundError: No module named 'wandb'", "./main.py")
            + trace("torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ", f"{SITE}/torch/run.py"),
            Lack.PACKAGE,
            "main.py:3 imports wandb",
            "pip install wandb",
        ),
        (
            trace("ImportError: AutoThing requires the sacremoses library: pip install sacremoses", "./main.py"),
            Lack.PACKAGE,
            "sacremoses",
            "pip install sacremoses",
        ),
        (
            trace("RuntimeError: Numpy is not available", "./main.py"),
            Lack.PACKAGE,
            "main.py:3 needs numpy, which is not installed",
            "pip install numpy",
        ),
        (
            trace("ModuleNotFoundError: No module named 'triton'", "./main.py"),
            Lack.TRITON,
            "main.py:3 imports triton, which is not installed",
            "--world real",
        ),
        (
            trace("RuntimeError: 0 active drivers ([]). There should only be one.", "./main.py", f"{SITE}/triton/d.py"),
            Lack.TRITON,
            "main.py:3 runs a Triton kernel",
            "simulated GPUs only run PyTorch's own operators",
        ),
        (
            trace(
                "OSError: CUDA_HOME environment variable is not set. Please set it.",
                "./main.py",
                f"{SITE}/torch/utils/cpp_extension.py",
            ),
            Lack.COMPILER,
            "main.py:3 compiles an extension with torch.utils.cpp_extension",
            "--world real",
        ),
        (
            trace("AttributeError: '_OpNamespace' 'mylib' object has no attribute 'scan'", "./main.py"),
            Lack.KERNEL,
            "main.py:3 needs a compiled kernel that is not available",
            "--world real",
        ),
        (
            trace("ModuleNotFoundError: No module named 'flash_attn'", "./main.py"),
            Lack.KERNEL,
            "its kernels are compiled for GPUs",
            "--world real",
        ),
        (
            trace("EOFError: EOF when reading a line", "./main.py"),
            Lack.INPUT,
            "main.py:3 asks for input, but the standard input of the program is empty",
            "--run",
        ),
        ("Overwrite? [y/N]: Aborted!\n".replace(": A", ":\nA"), Lack.INPUT, "asks for input", "--run"),
        (
            trace("FileNotFoundError: [Errno 2] No such file or directory: './data/rows.csv'", "./main.py"),
            Lack.FILE,
            "main.py:3 reads data/rows.csv, which does not exist",
            "create or download it first",
        ),
        (
            trace("RuntimeError: Dataset not found. You can use download=True to download it", "./main.py"),
            Lack.FILE,
            "main.py:3 finds no data (RuntimeError: Dataset not found.",
            "create or download it first",
        ),
        (
            trace("FileNotFoundError: [Errno 2] No such file or directory: 'ffmpeg'", "./a.py", "/lib/subprocess.py"),
            Lack.PROGRAM,
            "a.py:3 starts the program ffmpeg, which is not installed here",
            "install ffmpeg",
        ),
        (
            trace("FileNotFoundError: [Errno 2] No such file or directory: 'x.yaml'", "./main.py")
            + "\nDuring handling of the above exception, another exception occurred:\n\n"
            + trace("ValueError: no usable configuration", "./main.py"),
            Lack.FILE,
            "main.py:3 reads x.yaml",
            "create or download it first",
        ),
        (
            trace("urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>", "./a.py"),
            Lack.NETWORK,
            "the network is not available",
            "download it beforehand",
        ),
    ],
)  # fmt: skip
def test_what_a_program_misses(words: str, lack: Lack, message: str, advice: str) -> None:
    obstacle = find_obstacle(words)
    assert obstacle is not None
    assert obstacle.lack is lack
    assert message in obstacle.message
    assert advice in obstacle.advice
    assert "\n" not in obstacle.message + obstacle.advice


@pytest.mark.parametrize(
    "words",
    [
        trace("ValueError: bad shape", "./main.py"),
        trace("KeyError: 'ids'", "./main.py"),
        trace("FileNotFoundError: [Errno 2] No such file or directory: 'x'", "./a.py")
        + trace("ValueError: 3", "./b.py"),
        "exit\n",
        "",
    ],
)
def test_other_failures_have_no_obstacle(words: str) -> None:
    assert find_obstacle(words) is None


def test_a_module_of_the_repository_is_told_apart(tmp_path: Path) -> None:
    missing = trace("ModuleNotFoundError: No module named 'helpers'", "./scripts/train.py")
    obstacle = find_obstacle(missing, ("scripts/train.py", "src/helpers/__init__.py"))
    assert obstacle
    assert (obstacle.lack, "src/helpers/" in obstacle.message) == (Lack.MODULE, True)
    missing = trace("ModuleNotFoundError: No module named 'ops._C'", "./ops/__init__.py")
    obstacle = find_obstacle(missing, ("ops/__init__.py", "csrc/scan.cu"))
    assert obstacle
    assert (obstacle.lack, "is not built" in obstacle.message) == (Lack.COMPILER, True)


def test_a_file_that_is_not_committed_is_told_apart(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("1\n")
    words = trace("FileNotFoundError: [Errno 2] No such file or directory: 'rows.csv'", "./main.py")
    obstacle = find_obstacle(words, root=tmp_path)
    assert obstacle
    assert "but not in the commit" in obstacle.message
    assert "commit it" in obstacle.advice


def test_a_command_that_names_no_file_is_told(tmp_path: Path) -> None:
    words = "/env/bin/python: can't open file './train.py': [Errno 2] No such file or directory\n"
    obstacle = find_obstacle(words, root=tmp_path)
    assert obstacle and obstacle.lack is Lack.FILE
    assert obstacle.message == "the command runs train.py, which does not exist"
    (tmp_path / "train.py").write_text("import torch\n")
    obstacle = find_obstacle(words, root=tmp_path)
    assert obstacle and "but not in the commit" in obstacle.message and "commit it" in obstacle.advice


def repair(root: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "devfix", "repair", str(root), "--world", "simulated", "--run", "python main.py"]
    return subprocess.run([*command, "--format", "json"], capture_output=True, text=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "kind", "words"),
    [
        ("import torch\nimport cv2_of_nobody\n", "missing-package", "main.py:2 imports cv2_of_nobody"),
        ("import cv2_of_nobody\nimport torch\n", "missing-package", "main.py:1 imports cv2_of_nobody"),
        ("import torch\nname = input('name? ')\n", "closed-input", "main.py:2 asks for input"),
        ("import torch\nopen('data/rows.csv')\n", "missing-file", "main.py:2 reads data/rows.csv"),
    ],
)
def test_every_format_says_it_in_place_of_a_traceback(tmp_path: Path, program: str, kind: str, words: str) -> None:
    files = {"main.py": program, "requirements.txt": "torch\ncv2-of-nobody>=1\n"}
    done = repair(make_repository(tmp_path / "program", files))
    data = read(done.stdout)
    assert (done.returncode, data.outcome, data.obstacle.lack.value) == (1, "unrepaired", kind)
    assert words in data.obstacle.message
    for shown in (" ".join(text(data).split()), summary(data).replace("\\_", "_"), workflow_commands(data)):
        assert words in shown
        assert "Traceback" not in shown
        assert "Suggestion: " in shown
    if kind == "missing-package":
        assert "declared in requirements.txt:2" in data.obstacle.message


def test_a_program_that_works_has_no_obstacle() -> None:
    words = trace("ModuleNotFoundError: No module named 'cv2'", "./main.py")
    run = ended(words, 0, Outcome.CLEAN)
    around = Surroundings(PYTHON, Path("/nowhere"), "", frozenset(), list)
    assert hindrance(run, around) is None


def look_at(root: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "devfix", "run", "--world", "simulated", *options, "--", "python", "main.py"]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, stdin=subprocess.DEVNULL)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "kind", "words"),
    [
        ("import torch\nimport cv2_of_nobody\n", "missing-package", "main.py:2 imports cv2_of_nobody"),
        ("import torch\nopen('data/rows.csv')\n", "missing-file", "main.py:2 reads data/rows.csv"),
        ("import torch\nname = input('name? ')\n", "closed-input", "main.py:2 asks for input"),
    ],
)
def test_a_run_that_is_only_looked_at_says_it_behind_its_traceback(
    tmp_path: Path, program: str, kind: str, words: str
) -> None:
    root = make_repository(tmp_path / "program", {"main.py": program, "requirements.txt": "cv2-of-nobody\n"})
    done = look_at(root)
    assert done.returncode == 1
    said = " ".join(done.stderr.partition("Traceback")[2].split())
    assert words in said
    assert "Suggestion: " in said
    data = json.loads(look_at(root, "--format", "json").stdout)
    jsonschema.validate(data, run_schema(), jsonschema.Draft202012Validator)
    assert data["obstacle"]["lack"] == kind


@pytest.mark.slow
def test_a_run_outside_of_a_repository_is_told_too(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("import torch\nimport cv2_of_nobody\n")
    seen = pipeline.run(["python", "main.py"], tmp_path, world="simulated")
    assert seen.obstacle
    assert seen.obstacle.message.startswith("main.py:2 imports cv2_of_nobody")
