"""Time the whole of `devfix repair` on LLMs-from-scratch against one plain run of the same script on the CPU.

usage: python benchmarks/repair.py [--rounds N] [--long] [--find]

The limit is that of the repair, without the regression test that it writes where there are pytest tests, as here; the
ratio with it, which is the default, is told beside. All are whole processes, interleaved; what is printed is the ratio
of the medians (of 5 by default). The case is `corpus/wild/llms-from-scratch`; its release is installed from the package
index at first. `--long` takes a program of a minute in its place, of which 50 s lie before the failure: it waits, as
programs do that load data, so that the ratio counts the runs that follow one another. `--find` times how `devfix find`
confirms two findings, in plain runs of the test of one of them.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from needed import need
from repairs import make_repository, repair
from wild import WILD, environment, read_wild, unpacked

LONG = {
    "model.py": """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.scale = torch.ones(4)

    def forward(self, x):
        return self.linear(x) * self.scale
""",
    "main.py": """
import time
import torch
from model import Model

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
time.sleep(45)  # loads data
model = Model().to(device)
time.sleep(5)  # and prepares it
for step in range(10):
    loss = model(torch.ones(2, 4, device=device)).sum()
    time.sleep(1)
print(round(loss.item(), 4))
""",
    "tests/test_nothing.py": "def test_nothing():\n    assert True\n",
}
FOUND = {
    "library.py": """
import torch

def shifted(x):
    return x + torch.ones(len(x))

def scaled(x):
    return x * torch.ones(len(x))
""",
    "pytest.ini": "[pytest]\npythonpath = .\n",
}
FINDS = """
import time
import torch
from library import {function}

def test_{function}():
    x = torch.ones(2)
    time.sleep({seconds})  # loads data
    {function}(x)
"""


@dataclass(frozen=True)
class Program:
    """A program to time: the folder of its repository, its command, its interpreter, and the limit of the ratio.

    `with_test`: the limit is that of the default, with a regression test.
    """

    folder: Path
    command: str
    python: Path
    limit: float
    with_test: bool


def main() -> int:
    """Print the seconds of all and their ratios; 1 where the ratio is over the limit, or the repair is not one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("--long", action="store_true", help="a program of a minute")
    parser.add_argument("--find", action="store_true", help="how findings are confirmed")
    asked = parser.parse_args()
    need("devfix", "torch")
    with tempfile.TemporaryDirectory(prefix="devfix-benchmark-") as temporary:
        if asked.find:
            return time_confirmation(Path(temporary), 50 if asked.long else 0, asked.rounds or (1 if asked.long else 5))
        program = make_long_program(Path(temporary)) if asked.long else make_wild_program(Path(temporary))
        return time_program(program, asked.rounds or (1 if asked.long else 5))


def make_wild_program(temporary: Path) -> Program:
    """Return the case of corpus/wild, which has run once: both sides find the library compiled, as in a second run."""
    shared = environment()
    wild = read_wild(WILD / "llms-from-scratch")
    made, folder = temporary / "made", temporary / "repository"
    shutil.copytree(unpacked(wild, shared), made, ignore=shutil.ignore_patterns("bin"))
    shutil.copytree(wild.case.folder, made, dirs_exist_ok=True)
    make_repository(made, folder)
    program = Program(folder, wild.case.run, shared / "bin" / "python", 4, with_test=False)
    time_plain_run(program)
    return program


def make_long_program(temporary: Path) -> Program:
    """Return a program of a minute."""
    folder = make_folder(temporary, LONG)
    return Program(folder, "python main.py", Path(sys.executable), 2, with_test=True)


def make_folder(temporary: Path, files: dict[str, str]) -> Path:
    """Return the folder of a new repository with these files."""
    made, folder = temporary / "made", temporary / "repository"
    for name, text in files.items():
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text(text.lstrip("\n"), encoding="utf-8")
    make_repository(made, folder)
    return folder


def time_confirmation(temporary: Path, seconds: int, rounds: int) -> int:
    """Time how two findings are confirmed, whose tests wait for so many seconds, against plain runs of one test."""
    names = ("shifted", "scaled")
    tests = {f"tests/test_{name}.py": FINDS.format(function=name, seconds=seconds) for name in names}
    folder = make_folder(temporary, {**FOUND, **tests})
    plain, confirming = list[float](), list[float]()
    limit = 2 if seconds else 3
    test = Program(
        folder, f"python -m pytest -q -p no:cacheprovider tests/test_{names[0]}.py", Path(sys.executable), 0, False
    )
    for number in range(1, rounds + 1):
        plain.append(time_plain_run(test))
        words = [sys.executable, "-m", "devfix", "find", str(folder), "--no-silent", "--format", "json"]
        report = json.loads(subprocess.run(words, capture_output=True, text=True).stdout)
        if [each["confirmed"] for each in report["findings"]] != [True, True]:
            print(f"not confirmed: {report['findings']}", file=sys.stderr)
            return 1
        confirming.append(report["seconds"]["confirm"])
        print(f"round {number}: plain {plain[-1]:.2f} s, both confirmed in {confirming[-1]:.2f} s", flush=True)
    ratio = statistics.median(confirming) / statistics.median(plain)
    print(f"plain {statistics.median(plain):.2f} s; in plain runs: both confirmed {ratio:.2f} (at most {limit})")
    return 0 if ratio <= limit else 1


def time_plain_run(program: Program) -> float:
    """Return the seconds of one plain run on the CPU."""
    began = time.monotonic()
    words = [program.python, *program.command.split()[1:]]
    subprocess.run(words, cwd=program.folder, check=True, capture_output=True, env=hidden_gpus())
    return time.monotonic() - began


def time_program(program: Program, rounds: int) -> int:
    """Time a program in rounds, and print what came of it."""
    plain, guarded, bare = list[float](), list[float](), list[float]()
    command = ["--run", program.command, "--world", "simulated", "--python", str(program.python)]
    for number in range(1, rounds + 1):
        plain.append(time_plain_run(program))
        for seconds, name, more in ((guarded, "guarded", []), (bare, "bare", ["--no-test"])):
            report, took = repair(program.folder, [*command, "--branch", f"{name}-{number}", *more])
            if report["outcome"] != "repaired":
                print(f"not repaired: {report['outcome']}: {report.get('notes')}", file=sys.stderr)
                return 1
            seconds.append(took)
        told = f"plain {plain[-1]:.2f} s, repair {bare[-1]:.2f} s, with a test {guarded[-1]:.2f} s"
        print(f"round {number}: {told}", flush=True)
    usual = statistics.median(plain)
    ratios = {
        name: statistics.median(seconds) / usual for name, seconds in (("repair", bare), ("with a test", guarded))
    }
    limited = "with a test" if program.with_test else "repair"
    shown = ", ".join(
        f"{name} {ratio:.2f}" + (f" (at most {program.limit:g})" if name == limited else "")
        for name, ratio in ratios.items()
    )
    print(f"plain {usual:.2f} s; in plain runs: {shown}")
    return 0 if ratios[limited] <= program.limit else 1


def hidden_gpus() -> dict[str, str]:
    """The environment without GPUs: the plain run is one on the CPU."""
    return {**os.environ, "CUDA_VISIBLE_DEVICES": ""}


if __name__ == "__main__":
    sys.exit(main())
