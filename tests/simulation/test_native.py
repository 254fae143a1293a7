"""The compiled hot paths: the same results as Python's, and no harm where they cannot be built or loaded."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from native_programs import LOADED, PROGRAM, SHELLS

PROBE = Path(__file__).resolve().parents[2] / "src" / "devfix" / "probe"
BUILD = PROBE / "simulation" / "native" / "build.py"

needs_compiler = pytest.mark.skipif(not shutil.which("g++") or sys.platform != "linux", reason="needs g++ on Linux")


def environment(**more: str) -> dict[str, str]:
    world = {"world": {"kind": "simulated", "gpus": 2, "current": 0}, "traces": os.devnull}
    told = {"DEVFIX_PROBE": json.dumps(world), "PYTHONPATH": str(PROBE / "entry"), "PYTHONHASHSEED": "0"}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DEVFIX")}
    return {**kept, **told, **more}


def run(program: str, **more: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-c", program] if "\n" not in program else [sys.executable, "-"]
    given = program if "\n" in program else None
    return subprocess.run(words, input=given, env=environment(**more), capture_output=True, text=True, check=False)


def start_build(cache: Path, **more: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-IB", str(BUILD), "--wait"], env={**os.environ, "XDG_CACHE_HOME": str(cache), **more}
    )


def files_in(cache: Path) -> list[Path]:
    return sorted((cache / "devfix" / "native").glob("*"))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Two builds that were started at once, in one cache, where an earlier one was killed."""
    cache, temporary = tmp_path_factory.mktemp("cache"), tmp_path_factory.mktemp("temporary")
    abandoned = cache / "devfix" / "native" / "building-abc"
    abandoned.mkdir(parents=True, mode=0o700)
    abandoned.parent.chmod(0o700)
    os.utime(abandoned, (0, 0))
    both = [start_build(cache, TMPDIR=str(temporary)) for _ in range(2)]
    codes = sorted(each.wait() for each in both)
    assert codes in ([0, 0], [0, 1])
    assert list(temporary.iterdir()) == []
    yield cache


@needs_compiler
@pytest.mark.slow
def test_two_builds_at_once_leave_one_file(built: Path) -> None:
    (file,) = files_in(built)
    assert file.suffix == ".so"
    assert start_build(built).wait() == 0


@needs_compiler
@pytest.mark.slow
def test_a_build_writes_no_bytecode(tmp_path: Path) -> None:
    """The build goes on when devfix has ended, and what it imports may be removed by then."""
    cache, bytecode = tmp_path / "cache", tmp_path / "bytecode"
    assert start_build(cache, PYTHONPYCACHEPREFIX=str(bytecode), PYTHONDONTWRITEBYTECODE="").wait() == 0
    assert [file.suffix for file in files_in(cache)] == [".so"]
    assert not bytecode.exists()


@needs_compiler
@pytest.mark.slow
def test_programs_have_the_same_results_errors_and_histories(built: Path) -> None:
    (file,) = files_in(built)
    script = built / "program.py"
    script.write_text(PROGRAM, "utf-8")
    told = [
        subprocess.run(
            [sys.executable, str(script)],
            env=environment(XDG_CACHE_HOME=str(built), **more),
            capture_output=True,
            text=True,
            check=False,
        )
        for more in ({"DEVFIX_NATIVE": "0"}, {}, {"DEVFIX_NATIVE": str(file)})
    ]
    assert [each.returncode for each in told] == [0, 0, 0], told[1].stderr[-2000:]
    assert [each.stderr.splitlines()[-1] for each in told] == ["False", "True", "True"]
    reference = told[0].stdout.splitlines()
    assert len(reference) > 180
    for each in told[1:]:
        lines = each.stdout.splitlines()
        assert [pair for pair in zip(lines, reference, strict=True) if pair[0] != pair[1]] == []


@needs_compiler
@pytest.mark.slow
def test_shells_are_those_of_python(built: Path) -> None:
    (file,) = files_in(built)
    ran = run(SHELLS, DEVFIX_NATIVE=str(file))
    assert ran.stdout.splitlines() == ["same"], ran.stderr


@needs_compiler
@pytest.mark.slow
def test_a_file_that_others_may_write_is_not_loaded(built: Path) -> None:
    (file,) = files_in(built)
    copy = built / "copy.so"
    shutil.copyfile(file, copy)
    copy.chmod(0o700)
    asked = f"import sys, torch; print({LOADED})"
    assert run(asked, DEVFIX_NATIVE=str(copy)).stdout.strip() == "True"
    copy.chmod(0o766)
    assert run(asked, DEVFIX_NATIVE=str(copy)).stdout.strip() == "False"


@pytest.mark.slow
def test_a_file_for_something_else_is_not_loaded(tmp_path: Path) -> None:
    broken = tmp_path / "broken.so"
    broken.write_bytes(b"no library")
    broken.chmod(0o700)
    ran = run(
        f"import sys, torch; print({LOADED}, torch.ones(2, device='cuda').add(1).tolist())", DEVFIX_NATIVE=str(broken)
    )
    assert ran.stdout.split(" ", 1) == ["False", "[2.0, 2.0]\n"], ran.stderr


@pytest.mark.slow
def test_without_a_compiler_the_failure_is_kept(tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("nothing is built elsewhere")
    more = {"CXX": "/nonexistent/c++", "PATH": str(tmp_path)}
    assert start_build(tmp_path, **more).wait() == 1
    (told,) = files_in(tmp_path)
    assert told.suffix == ".failed" and "no C++ compiler" in told.read_text("utf-8")
    assert start_build(tmp_path).wait() == 1  # not tried again so soon
    assert files_in(tmp_path) == [told]


def test_a_cache_that_cannot_be_written_to_is_left_alone(tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("", "utf-8")
    assert start_build(in_the_way).wait() == 1
