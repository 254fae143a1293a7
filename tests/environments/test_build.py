"""Environments: what is installed, where, how often, and what is said of what cannot be."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from uuid import uuid4

import pytest
from git_repositories import fingerprint, make_repository, write
from package_index import PackageIndex

from devfix.environments import Environment, EnvironmentRequest, build_environment, clear_environments
from devfix.environments.resolution import ResolutionError
from devfix.errors import UserError

ORDINARY = EnvironmentRequest(torch="none")


def built(folder: Path, files: Mapping[str, bytes | str], *packages: str) -> Environment:
    """Build the environment of a repository with these files."""
    make_repository(folder, files)
    return again(folder, *packages)


def again(folder: Path, *packages: str) -> Environment:
    return build_environment(folder, "", EnvironmentRequest(packages, "none"), lambda step: None)


def ask(environment: Environment, code: str, cwd: Path | None = None) -> str:
    return subprocess.check_output([environment.python, "-c", code], text=True, cwd=cwd or Path("/")).strip()


def test_what_is_declared_is_installed_outside_of_the_repository(index: PackageIndex, tmp_path: Path) -> None:
    index.add("leaf", "2.0")
    index.add("stem", "1.5", "leaf>=1")
    folder = make_repository(tmp_path / "program", {"requirements.txt": "stem<2\n"})
    before = fingerprint(folder)
    environment = again(folder)
    assert environment.packages == ("leaf==2.0", "stem==1.5")
    assert environment.python.is_relative_to(tmp_path / "cache")
    assert ask(environment, "import leaf, stem; print(leaf.version, stem.version)") == "2.0 1.5"
    assert fingerprint(folder) == before
    assert (environment.left_out, environment.notes, environment.reused) == ((), (), False)


@pytest.mark.slow
def test_the_same_resolution_is_built_once(index: PackageIndex, tmp_path: Path) -> None:
    index.add("leaf", "1.0")
    first = built(tmp_path / "program", {"requirements.txt": "leaf\n"})
    write(tmp_path / "program", {"requirements.txt": "# a comment\nleaf>=1\n"})
    second = again(tmp_path / "program")
    assert (second.python, second.reused) == (first.python, True)
    index.add("leaf", "1.1")
    write(tmp_path / "program", {"requirements.txt": "leaf>1\n"})
    # uv asks an index again when its own record of the answer is ten minutes old.
    subprocess.run(["uv", "cache", "clean", "--quiet", "leaf"], check=True, env=with_own_programs())
    third = again(tmp_path / "program")
    assert third.packages == ("leaf==1.1",) and third.python != first.python
    assert clear_environments() == 2
    assert not third.python.exists()


def with_own_programs() -> dict[str, str]:
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


def test_an_environment_whose_builder_was_killed_is_built_again(index: PackageIndex, tmp_path: Path) -> None:
    index.add("leaf")
    first = built(tmp_path / "program", {"requirements.txt": "leaf\n"})
    home = first.python.parent.parent
    (home / "devfix.json").unlink()
    (module,) = home.glob("lib/python*/site-packages/leaf/__init__.py")
    module.unlink()
    second = again(tmp_path / "program")
    assert (second.python, second.reused) == (first.python, False)
    assert ask(second, "import leaf; print(leaf.version)") == "1.0"


@pytest.mark.slow
def test_two_builders_of_one_environment_build_it_once(index: PackageIndex, tmp_path: Path) -> None:
    index.add("leaf")
    folder = make_repository(tmp_path / "program", {"requirements.txt": "leaf\n"})
    done: list[Environment] = []
    threads = [threading.Thread(target=lambda: done.append(again(folder))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({each.python for each in done}) == 1
    assert sorted(each.reused for each in done) == [False, True, True]


def test_a_conflict_is_one_line_with_the_declared_lines(index: PackageIndex, tmp_path: Path) -> None:
    for version in ("1.0", "2.0"):
        index.add("leaf", version)
    index.add("stem", "1.0", "leaf<2")
    with pytest.raises(ResolutionError) as failed:
        built(tmp_path / "program", {"requirements.txt": "# programs\nstem\n\nleaf>=2\n"})
    line = str(failed.value)
    assert "requirements.txt:2 asks for stem" in line
    assert "requirements.txt:4 asks for leaf>=2" in line
    assert "\n" not in line
    assert "No solution found" in failed.value.details


def test_what_no_index_has_is_left_out_and_named(index: PackageIndex, tmp_path: Path) -> None:
    index.add("leaf")
    environment = built(tmp_path / "program", {"requirements.txt": "leaf\nno-such-leaf>=3\n"})
    assert environment.packages == ("leaf==1.0",)
    assert environment.left_out == (
        "no-such-leaf is left out: no index has it; requirements.txt:2 asks for no-such-leaf>=3",
    )


SETUPTOOLS = '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'


@pytest.mark.slow
def test_what_cannot_be_built_is_left_out_with_the_reason(index: PackageIndex, tmp_path: Path) -> None:
    index.add("leaf")
    index.add_installed("setuptools")
    index.add_source("broken", "1.0", {"setup.py": "import no_such_compiler\n", "pyproject.toml": SETUPTOOLS})
    environment = built(tmp_path / "program", {"requirements.txt": "leaf\nbroken\n"})
    assert environment.packages == ("leaf==1.0",)
    (line,) = environment.left_out
    assert line.startswith("broken is left out: it cannot be built (") and "no_such_compiler" in line
    assert line.endswith("requirements.txt:2 asks for broken")


@pytest.mark.slow
def test_what_cannot_be_built_when_it_is_installed_is_left_out_too(index: PackageIndex, tmp_path: Path) -> None:
    index.add("leaf")
    index.add_installed("setuptools")
    backend = (
        "from setuptools.build_meta import *\n"
        "def prepare_metadata_for_build_wheel(folder, settings=None):\n"
        "    import pathlib\n"
        "    info = pathlib.Path(folder, 'late-1.0.dist-info')\n"
        "    info.mkdir()\n"
        "    (info / 'METADATA').write_text('Metadata-Version: 2.1\\nName: late\\nVersion: 1.0\\n')\n"
        "    return info.name\n"
        "def build_wheel(*_):\n"
        "    raise RuntimeError('no compiler')\n"
    )
    project = SETUPTOOLS.replace("setuptools.build_meta", "own") + 'backend-path = ["."]\n'
    index.add_source("late", "1.0", {"own.py": backend, "pyproject.toml": project})
    environment = built(tmp_path / "program", {"requirements.txt": "leaf\nlate\n"})
    assert environment.packages == ("leaf==1.0",)
    (line,) = environment.left_out
    assert "no compiler" in line and line.endswith("requirements.txt:2 asks for late")


@pytest.mark.slow
def test_the_tests_of_a_project_are_given_up_before_the_project(index: PackageIndex, tmp_path: Path) -> None:
    for version in ("1.0", "2.0"):
        index.add("leaf", version)
    project = (
        '[project]\nname = "program"\nversion = "1"\ndependencies = ["leaf<2"]\n'
        '[project.optional-dependencies]\ntest = ["leaf>=2"]\ndocs = ["no-such-leaf"]\n'
    )
    environment = built(tmp_path / "program", {"pyproject.toml": project})
    assert environment.packages == ("leaf==1.0",)
    (note,) = environment.notes
    assert note.startswith("the extra test of pyproject.toml is left out: ")
    assert "pyproject.toml:6 asks for leaf>=2" in note


@pytest.mark.slow
def test_a_lock_says_which_release_is_taken(index: PackageIndex, tmp_path: Path) -> None:
    for version in ("1.0", "2.0", "3.0"):
        index.add("leaf", version)
    index.add("unused")
    project = '[project]\nname = "program"\nversion = "1"\nrequires-python = ">=3.10"\ndependencies = ["leaf>=1"]\n'
    lock = (
        'version = 1\n[[package]]\nname = "leaf"\nversion = "2.0"\nsource = { registry = "x" }\n'
        '[[package]]\nname = "unused"\nversion = "1.0"\nsource = { registry = "x" }\n'
    )
    environment = built(tmp_path / "program", {"pyproject.toml": project, "uv.lock": lock})
    assert environment.packages == ("leaf==2.0",)
    assert environment.files == ("uv.lock", "pyproject.toml")
    write(tmp_path / "program", {"uv.lock": lock.replace('"2.0"', '"2.5"')})
    environment = again(tmp_path / "program")
    assert environment.packages == ("leaf==3.0",)
    (note,) = environment.notes
    assert note.startswith("uv.lock is not followed: ") and "uv.lock asks for leaf==2.5" in note


@pytest.mark.slow
def test_a_lock_of_uv_itself_and_of_a_workspace(index: PackageIndex, tmp_path: Path) -> None:
    index.add("leaf", "1.0")
    root = '[tool.uv.workspace]\nmembers = ["packages/*"]\n'
    member = '[project]\nname = "{0}"\nversion = "1"\nrequires-python = ">=3.10"\ndependencies = ["{1}"]\n'
    source = "[tool.uv.sources]\none = { workspace = true }\n"
    files = {
        "pyproject.toml": root,
        "packages/one/pyproject.toml": member.format("one", "leaf"),
        "packages/two/pyproject.toml": member.format("two", "one") + source,
        "packages/two/run.py": "",
    }
    folder = make_repository(tmp_path / "program", files)
    subprocess.run(["uv", "lock", "--quiet"], cwd=folder, check=True, env=with_own_programs())
    index.add("leaf", "2.0")
    subprocess.run(["uv", "cache", "clean", "--quiet", "leaf"], check=True, env=with_own_programs())
    assert "leaf==1.0" in again(folder).packages
    below = build_environment(folder, "packages/two", ORDINARY, lambda step: None)
    assert "leaf==1.0" in below.packages and below.files == ("uv.lock", "pyproject.toml")


def test_a_package_that_is_asked_for_besides(index: PackageIndex, tmp_path: Path) -> None:
    index.add("leaf")
    environment = built(tmp_path / "program", {"train.py": "print(1)\n"}, "leaf>=1")
    assert environment.packages == ("leaf==1.0",)
    assert environment.notes == ("no file declares what the program needs: leaf>=1 and no more is installed",)
    with pytest.raises(UserError, match="nothing declares what it needs"):
        again(tmp_path / "program")


@pytest.mark.slow
def test_an_interpreter_that_is_not_there_is_one_line(index: PackageIndex, tmp_path: Path) -> None:
    project = '[project]\nname = "program"\nversion = "1"\nrequires-python = ">=3.99"\ndependencies = ["leaf"]\n'
    with pytest.raises(UserError, match=r"pyproject.toml asks for Python >=3.99.*no such interpreter is installed"):
        built(tmp_path / "program", {"pyproject.toml": project})


@pytest.mark.slow
def test_credentials_reach_no_build(index: PackageIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The index needs a password, and the back end of a foreign package writes down what it sees."""
    secrets = uuid4().hex, uuid4().hex  # a word could also be in the machine's own settings
    monkeypatch.setenv("MY_TOKEN", secrets[0])
    monkeypatch.setenv("UV_DEFAULT_INDEX", index.address.replace("//", f"//ada:{secrets[1]}@"))
    seen = tmp_path / "seen.json"
    setup = f"import json, os\njson.dump(dict(os.environ), open({str(seen)!r}, 'w'))\n"
    setup += "from setuptools import setup\nsetup(name='curious', version='1.0')\n"
    index.add_installed("setuptools")
    index.add_source("curious", "1.0", {"setup.py": setup, "pyproject.toml": SETUPTOOLS})
    environment = built(tmp_path / "program", {"requirements.txt": "curious\n"})
    assert len(environment.packages) == 1
    told = seen.read_text()
    assert not any(secret in told for secret in secrets) and json.loads(told)["PATH"]


@pytest.mark.slow
def test_no_answer_from_the_index_of_torch_builds(
    index: PackageIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")  # nobody listens to the port of "discard"
    index.add("torch", "2.99.0")
    folder = make_repository(tmp_path / "program", {"requirements.txt": "torch==2.99.0+cu128\n"})
    environment = build_environment(folder, "", EnvironmentRequest(), lambda step: None)
    assert environment.packages == ("torch==2.99.0",)
    (note,) = environment.notes
    assert "cannot be reached" in note


@pytest.mark.slow
def test_the_build_of_torch_that_a_project_names_for_a_gpu_is_not_taken(
    index: PackageIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    index.add("torch", "2.99.0")
    project = '[project]\nname = "p"\nversion = "1"\nrequires-python = ">=3.10"\ndependencies = ["torch"]\n'
    sources = '[tool.uv.sources]\ntorch = { index = "cuda" }\n[[tool.uv.index]]\nname = "cuda"\nexplicit = true\n'
    files = {"pyproject.toml": f'{project}{sources}url = "http://127.0.0.1:9/cuda"\n'}
    folder = make_repository(tmp_path / "program", files)
    environment = build_environment(folder, "", EnvironmentRequest(), lambda step: None)
    assert environment.packages == ("torch==2.99.0",)


def test_an_index_that_does_not_answer_is_one_line(
    index: PackageIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://ada:hidden@127.0.0.1:9/simple")
    with pytest.raises(ResolutionError, match=r"a package index does not answer .*127.0.0.1:9/simple/leaf") as failed:
        built(tmp_path / "program", {"requirements.txt": "leaf\n"})
    assert "hidden" not in str(failed.value) + failed.value.details and "\n" not in str(failed.value)


@pytest.mark.slow
def test_a_pinned_release_that_cannot_be_built_is_replaced(index: PackageIndex, tmp_path: Path) -> None:
    index.add_installed("setuptools")
    index.add_source("leaf", "1.0", {"setup.py": "import no_such_compiler\n", "pyproject.toml": SETUPTOOLS})
    index.add("leaf", "2.0")
    project = '[project]\nname = "p"\nversion = "1"\nrequires-python = ">=3.10"\ndependencies = ["leaf"]\n'
    lock = '[[package]]\nname = "leaf"\nversion = "1.0"\nsource = { registry = "x" }\n'
    environment = built(tmp_path / "program", {"pyproject.toml": project, "uv.lock": lock})
    assert (environment.packages, environment.left_out) == (("leaf==2.0",), ())
    (note,) = environment.notes
    assert note.startswith("uv.lock is not followed for leaf==1.0: it cannot be built")
