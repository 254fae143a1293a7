"""The project itself: its metadata and scripts are installed, its sources stay where they are, and as they are."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from git_repositories import fingerprint, make_repository
from package_index import PackageIndex

from devfix.environments import Environment, EnvironmentRequest, build_environment

pytestmark = pytest.mark.slow
BUILD = '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
PROJECT = (
    '[project]\nname = "program"\nversion = "1.2"\ndependencies = ["leaf"]\n'
    '[project.scripts]\ntrain = "program.main:main"\n'
)
SOURCES = {
    "src/program/__init__.py": "",
    "src/program/main.py": "import leaf\ndef main():\n    print(__file__, leaf.version)\n",
}


def environment_of(folder: Path) -> Environment:
    return build_environment(folder, "", EnvironmentRequest(torch="none"), lambda step: None)


def test_a_project_is_installed_without_a_trace_beside_its_sources(index: PackageIndex, tmp_path: Path) -> None:
    index.add("leaf")
    index.add_installed("setuptools")
    folder = make_repository(tmp_path / "program", {"pyproject.toml": PROJECT + BUILD, **SOURCES})
    before = fingerprint(folder)
    environment = environment_of(folder)
    assert fingerprint(folder) == before
    assert environment.notes == ()
    said = subprocess.check_output([environment.python.with_name("train")], text=True).split()
    assert said == [str(folder / "src" / "program" / "main.py"), "1.0"]
    code = "from importlib.metadata import version; print(version('program'))"
    assert subprocess.check_output([environment.python, "-c", code], text=True) == "1.2\n"


@pytest.mark.parametrize(
    ("setup", "why"),
    [
        (
            "from setuptools import Extension, setup\nsetup(ext_modules=[Extension('x', ['x.c'])])\n",
            "has to be compiled",
        ),
        ("import no_such_module\n", "no_such_module"),
    ],
)
def test_sources_are_on_the_path_of_what_cannot_be_built(
    index: PackageIndex, tmp_path: Path, setup: str, why: str
) -> None:
    index.add("leaf")
    index.add_installed("setuptools")
    files = {"setup.py": setup, "requirements.txt": "leaf\n", **SOURCES}
    environment = environment_of(make_repository(tmp_path / "program", files))
    (note,) = environment.notes
    assert note.startswith("program is not installed, since ") and why in note
    code = "from program.main import main; main()"
    assert subprocess.check_output([environment.python, "-c", code], text=True, cwd="/").endswith(" 1.0\n")
    again = environment_of(tmp_path / "program")
    assert (again.reused, again.notes) == (True, environment.notes)


def test_a_member_of_a_workspace_is_installed_like_the_project(index: PackageIndex, tmp_path: Path) -> None:
    index.add("leaf")
    index.add_installed("setuptools")
    source = "[tool.uv.sources]\nprogram = { workspace = true }\n[tool.uv.workspace]\nmembers = ['inner']\n"
    outer = '[project]\nname = "outer"\nversion = "1"\nrequires-python = ">=3.10"\ndependencies = ["program"]\n'
    files = {"pyproject.toml": outer + source, "inner/pyproject.toml": PROJECT + BUILD}
    files |= {f"inner/{name}": text for name, text in SOURCES.items()}
    folder = make_repository(tmp_path / "outer", files)
    before = fingerprint(folder)
    environment = environment_of(folder)
    assert environment.notes == ()
    assert fingerprint(folder) == before
    said = subprocess.check_output([environment.python.with_name("train")], text=True).split()
    assert said[0] == str(folder / "inner" / "src" / "program" / "main.py")


@pytest.mark.parametrize(
    ("file", "text", "note"),
    [
        (
            "pyproject.toml",
            '[build-system]\nrequires = ["x"]\nbuild-backend = "mesonpy"\n',
            "since mesonpy may compile",
        ),
        ("setup.cfg", "[flake8]\nmax-line-length = 120\n", ""),
        ("pyproject.toml", '[tool.poetry]\npackage-mode = false\n[build-system]\nrequires = ["x"]\n', ""),
    ],
)
def test_what_is_not_built(index: PackageIndex, tmp_path: Path, file: str, text: str, note: str) -> None:
    index.add("leaf")
    files = {file: text, "requirements.txt": "leaf\n", **SOURCES}
    environment = environment_of(make_repository(tmp_path / "program", files))
    assert [note in line for line in environment.notes] == ([True] if note else [])
    code = "import program; print(program.__file__)"
    assert subprocess.check_output([environment.python, "-c", code], text=True, cwd="/").startswith(str(tmp_path))
