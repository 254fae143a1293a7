"""Each benchmark says in one line what it needs and does not find; tried in an environment with nothing in it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from git_repositories import git, make_repository

FOLDER = Path(__file__).parents[2] / "benchmarks"
sys.path.insert(0, str(FOLDER))

import commits  # noqa: E402
import cuda_stubs  # noqa: E402
import releases  # noqa: E402
import wild  # noqa: E402

ARGUMENTS = {
    "fleet.py": ["empty"],
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


@pytest.mark.parametrize("mirrored", [True, False], ids=["mirror", "clone"])
def test_the_files_of_a_commit_are_had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mirrored: bool) -> None:
    root = make_repository(tmp_path / "mirrors" / "ann" / "book", {"ch/nb.ipynb": "{}", "ch/other.py": "", "big": ""})
    commit = git(root, "rev-parse", "HEAD").strip()
    (root / "ch" / "nb.ipynb").write_text("later")
    git(root, "commit", "--quiet", "--all", "--message", "later")
    monkeypatch.setenv("DEVFIX_WILD_MIRRORS", str(tmp_path / "mirrors") if mirrored else "")
    address = "https://example.invalid/ann/book" if mirrored else root.as_uri()
    commits.files_at(address, commit, ["ch/nb.ipynb"], tmp_path / "files")
    found = [path.relative_to(tmp_path / "files") for path in (tmp_path / "files").rglob("*") if path.is_file()]
    assert [path.as_posix() for path in found] == ["ch/nb.ipynb"]
    assert (tmp_path / "files" / "ch" / "nb.ipynb").read_text() == "{}"


def test_a_repository_that_is_not_reached_is_an_ordinary_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEVFIX_WILD_MIRRORS", str(tmp_path))
    folder = tmp_path / "case"
    folder.mkdir()
    (folder / "case.toml").write_text(
        'what = "a notebook"\nkind = "clean"\nrun = "nb.ipynb"\nupstream = "none"\n'
        f'repository = "{(tmp_path / "none").as_uri()}"\ncommit = "{"0" * 40}"\nfiles = ["nb.ipynb"]\n'
    )
    case = releases.read_wild(folder)
    result = wild.judge_wild(case, tmp_path / "shared")
    assert wild.row(case, result).split(" | ")[2] == "not reached" and not result.faults
    assert "none" in result.diff


def test_every_wild_case_names_a_release_or_a_commit() -> None:
    for path in releases.WILD.glob("*/case.toml"):
        case = releases.read_wild(path.parent)
        assert bool(case.package) != bool(case.repository and len(case.commit) == 40 and case.files), case.case.name


def test_empty_definitions_of_cuda_functions_are_those_of_its_headers() -> None:
    own = cuda_stubs.defined((FOLDER / "cuda_runtime.cpp").read_text())
    assert {"cudaMalloc", "cudaMemcpy2DAsync", "cudaGetErrorString", "__cudaRegisterFatBinary"} <= own
    made = cuda_stubs.define("cublasCreate_v2", "cublasStatus_t", "cublasHandle_t *handle")
    assert made == (
        'extern "C" cublasStatus_t cublasCreate_v2(cublasHandle_t * handle) '
        "{ if (handle) *handle = new_handle<cublasHandle_t>(); return (cublasStatus_t)0; }"
    )
    made = cuda_stubs.define("cusolverDnSsyevd_bufferSize", "cusolverStatus_t", "int n, const float *A, int *lwork")
    assert made.endswith(
        "(int n, const float * A, int * lwork) { if (lwork) *lwork = 64; return (cusolverStatus_t)0; }"
    )
    assert cuda_stubs.define("cudaProfilerStop", "void", "void") == 'extern "C" void cudaProfilerStop() {  }'
