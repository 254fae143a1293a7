"""Each benchmark says in one line what it needs and does not find; tried in an environment with nothing in it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
ARGUMENTS = {
    "real_cases.py": ["specs.jsonl", "--assemble", "assemble.py", "--clones", "."],
    "parity.py": ["suites.toml", "--only", "bare", "--out", "results"],
}
STARTED = sorted(path.name for path in FOLDER.glob("*.py") if "__main__" in path.read_text())


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter without any package."""
    folder = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    return folder / "bin" / "python"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="before Python 3.11 it takes a package to read TOML")
@pytest.mark.parametrize("name", STARTED)
def test_it_says_what_to_install(name: str, bare: Path, tmp_path: Path) -> None:
    (tmp_path / "suites.toml").write_text("[bare]\nfolder = '.'\ntests = []\n[none]\npython = 'no-such-python'\n")
    command = [bare, FOLDER / name, *ARGUMENTS.get(name, [])]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout == ""
    assert f"{name} needs " in done.stderr and "torch" in done.stderr
    assert f"{bare} -m pip install " in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_an_interpreter_that_is_not_there_is_told(bare: Path, tmp_path: Path) -> None:
    (tmp_path / "suites.toml").write_text("[none]\nfolder = '.'\npython = 'no-such-python'\ntests = []\n")
    done = subprocess.run([bare, FOLDER / "parity.py", "suites.toml"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and "no-such-python is no interpreter" in done.stderr
    assert "Traceback" not in done.stderr


def test_make_bench_installs_what_they_need() -> None:
    makefile = (FOLDER.parent / "Makefile").read_text()
    recipe = makefile.partition("\nbench:")[2].partition("\n\n")[0]
    assert recipe.index(".[programs]") < recipe.index("benchmarks/simgpu.py")
