"""Environments of wheels alone: no code of a repository or of a package is run, and what that leaves out is said."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from git_repositories import fingerprint, make_repository
from package_index import PackageIndex

from devfix.environments import Environment, EnvironmentRequest, build_environment
from devfix.errors import UserError

BUILD = '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
OWN_BUILD = '[build-system]\nrequires = []\nbuild-backend = "flit_core.own"\nbackend-path = ["."]\n'
SOURCES = {
    "src/program/__init__.py": "",
    "src/program/main.py": "import leaf\ndef main():\n    print(__file__, leaf.version)\n",
}
HEAD = '[project]\nname = "program"\nversion = "1.2"\n'


class Marks:
    """Code that leaves a mark where it is run."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "marks"
        self.code = f"open({str(self.file)!r}, 'a').write(__file__ + chr(10))\n"
        self.setup = f"{self.code}from setuptools import setup\nsetup(name='hostile', version='1.0')\n"
        self.backend = f"{self.code}from setuptools.build_meta import *\n"
        self.files = {"setup.py": self.setup, "flit_core/own.py": self.backend}

    def seen(self) -> str:
        return self.file.read_text() if self.file.exists() else ""


@pytest.fixture
def marks(tmp_path: Path) -> Marks:
    return Marks(tmp_path)


def unbuilt(folder: Path, *packages: str, below: str = "") -> Environment:
    return build_environment(folder, below, EnvironmentRequest(packages, "none", False), lambda step: None)


def of(folder: Path, files: Mapping[str, bytes | str], *packages: str) -> Environment:
    return unbuilt(make_repository(folder, files), *packages)


def ask(environment: Environment, code: str) -> str:
    return subprocess.check_output([environment.python, "-c", code], text=True, cwd="/").strip()


@pytest.mark.slow
def test_what_has_no_wheel_is_left_out_with_the_line_that_asks_for_it(
    index: PackageIndex, tmp_path: Path, marks: Marks
) -> None:
    index.add("leaf")
    index.add("stem", "1.0", "hostile")
    index.add_installed("setuptools")
    index.add_source("hostile", "1.0", {"pyproject.toml": BUILD, **marks.files})
    index.add_source("own", "1.0", {"pyproject.toml": OWN_BUILD, **marks.files})
    index.add("both", "1.0")
    index.add_source("both", "2.0", marks.files)
    environment = of(tmp_path / "program", {"requirements.txt": "leaf\nstem\nown==1.0\nboth\n"})
    assert environment.packages == ("both==1.0", "leaf==1.0", "stem==1.0")
    assert sorted(environment.left_out) == [
        "hostile is left out: it has no wheel, and nothing is built; another package asks for it",
        "own is left out: it has no wheel, and nothing is built; requirements.txt:3 asks for own==1.0",
    ]
    assert environment.needs_build and not marks.seen()
    again = unbuilt(tmp_path / "program")
    assert (again.reused, again.needs_build, again.left_out) == (True, True, environment.left_out)
    with_builds = build_environment(tmp_path / "program", "", EnvironmentRequest(torch="none"), lambda step: None)
    assert marks.seen(), "these packages do run code when they are built"
    assert with_builds.python != environment.python and not with_builds.needs_build


@pytest.mark.slow
def test_a_project_of_static_metadata_is_installed_by_it(index: PackageIndex, tmp_path: Path, marks: Marks) -> None:
    index.add("leaf")
    project = HEAD + (
        'dependencies = ["leaf", "program[more]"]\n[project.optional-dependencies]\nmore = ["stem"]\n'
        '[project.scripts]\ntrain = "program.main:main"\n"../../out" = "program.main:main"\n'
        '[project.entry-points."some.group"]\nname = "program.main"\n'
    )
    index.add("stem")
    files = {"pyproject.toml": project + OWN_BUILD, **SOURCES, **marks.files}
    folder = make_repository(tmp_path / "program", files)
    before = fingerprint(folder)
    environment = unbuilt(folder)
    assert fingerprint(folder) == before
    assert (environment.left_out, environment.notes, environment.needs_build) == ((), (), False)
    assert environment.packages == ("leaf==1.0", "stem==1.0")
    said = subprocess.check_output([environment.python.with_name("train")], text=True).split()
    assert said == [str(folder / "src" / "program" / "main.py"), "1.0"]
    code = "from importlib.metadata import *; print(version('program'), *entry_points(group='some.group'))"
    assert ask(environment, code).startswith("1.2 EntryPoint(name='name'")
    assert not marks.seen()


SETUP_CFG = (
    "[metadata]\nname = program\nversion = {0}\n[options]\npackage_dir =\n    = src\ninstall_requires =\n    leaf\n"
    "[options.entry_points]\nconsole_scripts =\n    train = program.main:main\n"
)
SETUP_PY = (
    "from setuptools import find_packages, setup\nNEEDED = ['leaf']\n"
    "setup(name='program', version={0}, packages=find_packages('src'), package_dir={{'': 'src'}},\n"
    "      install_requires=NEEDED, entry_points={{'console_scripts': ['train = program.main:main']}})\n"
)
POETRY = (
    '[tool.poetry]\nname = "program"\nversion = "{0}"\npackages = [{{include = "program", from = "src"}}]\n'
    '[tool.poetry.dependencies]\npython = ">=3.10"\nleaf = "*"\n[tool.poetry.scripts]\ntrain = "program.main:main"\n'
)
DYNAMIC = (
    '[project]\nname = "program"\ndynamic = ["version"]\ndependencies = ["leaf"]\n'
    '[project.scripts]\ntrain = "program.main:main"\n'
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("files", "version"),
    [
        ({"setup.cfg": SETUP_CFG.format("1.2")}, "1.2"),
        ({"setup.cfg": SETUP_CFG.format("file: VERSION"), "VERSION": "1.3\n"}, "1.3"),
        ({"setup.cfg": SETUP_CFG.format("attr: program.version")}, "0.0.0"),
        ({"setup.py": SETUP_PY.format("'1.2'")}, "1.2"),
        ({"setup.py": SETUP_PY.format("read_version()")}, "0.0.0"),
        ({"pyproject.toml": POETRY.format("1.2") + OWN_BUILD}, "1.2"),
        ({"pyproject.toml": DYNAMIC + OWN_BUILD}, "0.0.0"),
    ],
)
def test_metadata_in_other_files(
    index: PackageIndex, tmp_path: Path, marks: Marks, files: dict[str, str], version: str
) -> None:
    index.add("leaf")
    files = {name: marks.code + text if name == "setup.py" else text for name, text in files.items()}
    files = {"flit_core/own.py": marks.backend, **SOURCES, **files}
    environment = of(tmp_path / "program", files)
    assert ask(environment, "import importlib.metadata as m; print(m.version('program'))") == version
    assert subprocess.check_output([environment.python.with_name("train")], text=True).endswith(" 1.0\n")
    computed = version == "0.0.0"
    assert (environment.needs_build, bool(environment.notes)) == (False, computed)
    assert not marks.seen()


def test_a_setup_file_is_not_run(index: PackageIndex, tmp_path: Path, marks: Marks) -> None:
    index.add("leaf")
    setup = f"{marks.code}from setuptools import setup\nsetup(name=named(), install_requires=['leaf'])\n"
    environment = of(tmp_path / "program", {"setup.py": setup, **SOURCES})
    assert environment.notes == (
        "program is not installed, since its metadata is computed: its sources are on the path",
    )
    assert ask(environment, "from program.main import main; main()").endswith(" 1.0")
    assert environment.needs_build and not marks.seen()


@pytest.mark.parametrize(
    "files",
    [
        {"setup.py": "from setuptools import setup\nsetup(name='program', install_requires=listed())\n"},
        {"pyproject.toml": '[project]\nname = "program"\ndynamic = ["version", "dependencies"]\n' + OWN_BUILD},
    ],
)
def test_computed_requirements_are_left_out_with_a_note(
    index: PackageIndex, tmp_path: Path, marks: Marks, files: dict[str, str]
) -> None:
    files = {name: marks.code + text if name == "setup.py" else text for name, text in files.items()}
    environment = of(tmp_path / "program", {"flit_core/own.py": marks.backend, **files, **SOURCES})
    assert (
        environment.notes[0] == f"{next(iter(files))} computes what the program needs, and is not run: that is left out"
    )
    assert environment.needs_build
    assert not marks.seen()


def test_no_line_makes_uv_build_an_editable_project(index: PackageIndex, tmp_path: Path, marks: Marks) -> None:
    """uv builds editable projects whatever `--no-build` says: by requirement files, sources and workspaces."""
    index.add("leaf")
    index.add_installed("setuptools")
    hostile = {"setup.py": marks.setup, "inner.py": ""}
    sources = (
        '[tool.uv.sources]\none = { path = "one", editable = true }\ntwo = { workspace = true }\n'
        'three = { git = "https://127.0.0.1:9/three" }\nfour = { path = "../outside", editable = true }\n'
        "[tool.uv.workspace]\nmembers = ['two']\n"
    )
    project = HEAD + 'dependencies = ["one", "two", "three", "four"]\n' + sources
    member = BUILD + (
        '[project]\nname = "two"\nversion = "1"\ndependencies = ["five"]\n'
        '[tool.uv.sources]\nfive = { path = "../five", editable = true }\n'
    )
    files = {
        **{"pyproject.toml": project, "requirements.txt": "-e ./six\n-e git+https://127.0.0.1:9/seven\n"},
        **{f"{folder}/{name}": text for folder in ("one", "five", "six") for name, text in hostile.items()},
        **{"two/pyproject.toml": member, "two/two.py": "", "six/requirements.txt": "leaf\n"},
    }
    environment = of(tmp_path / "program", files, f"-e {tmp_path / 'program' / 'one'}")
    assert not marks.seen()
    assert environment.needs_build and environment.packages == ("leaf==1.0",)
    assert [line.partition(" is left out")[0] for line in environment.left_out] == ["three", "four", "seven"]
    assert ask(environment, "import two, inner, leaf; print(leaf.version)") == "1.0"
    assert ask(environment, "import importlib.metadata as m; print(m.version('two'))") == "1"


def test_nothing_that_the_repository_sets_for_uv_turns_builds_on(
    index: PackageIndex, tmp_path: Path, marks: Marks
) -> None:
    index.add("leaf")
    index.add_source("hostile", "1.0", {"pyproject.toml": OWN_BUILD, **marks.files})
    settings = f'no-build = false\nonly-binary = [":none:"]\ntarget = "{tmp_path / "elsewhere"}"\n'
    project = f'{HEAD}dependencies = ["leaf", "hostile"]\n[tool.uv]\nno-build = false\n[tool.uv.pip]\n{settings}'
    files = {"pyproject.toml": project, "uv.toml": f"no-build = false\n[pip]\n{settings}", ".python-version": "3.1\n"}
    environment = of(tmp_path / "program", files)
    assert environment.packages == ("leaf==1.0",) and not marks.seen()
    assert not (tmp_path / "elsewhere").exists()
    assert ask(environment, "import leaf; print(leaf.version)") == "1.0"


def test_the_interpreter_is_not_started_once_packages_are_in_it(
    index: PackageIndex, tmp_path: Path, marks: Marks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line of a `.pth` file is run at each start of the interpreter."""
    monkeypatch.setenv("UV_COMPILE_BYTECODE", "1")
    line = f"import os; open({str(marks.file)!r}, 'a').write('started')\n"
    index.add("leaf", modules={"leaf.py": "", "leaf.pth": line})
    environment = of(tmp_path / "program", {"pyproject.toml": HEAD + 'dependencies = ["leaf"]\n' + BUILD, **SOURCES})
    assert not marks.seen()
    ask(environment, "import leaf")
    assert marks.seen()


def test_a_folder_with_a_line_end_in_its_name_adds_no_line_to_the_path(
    index: PackageIndex, tmp_path: Path, marks: Marks
) -> None:
    name = f"src\nimport pathlib; pathlib.Path({str(marks.file)!r}.replace('+', '/')).touch()".replace("/", "+")
    where = "[tool.setuptools.packages.find]\nwhere = [" + '"' + name.replace("\n", "\\n") + '"' + "]\n"
    files = {"pyproject.toml": HEAD + BUILD + where, f"{name}/program.py": "", "requirements.txt": ""}
    environment = of(tmp_path / "program", files)
    ask(environment, "")
    assert not marks.seen()


def test_a_pinned_release_without_a_wheel_is_replaced(index: PackageIndex, tmp_path: Path, marks: Marks) -> None:
    index.add_source("leaf", "1.0", {"pyproject.toml": OWN_BUILD, **marks.files})
    index.add("leaf", "2.0")
    lock = '[[package]]\nname = "leaf"\nversion = "1.0"\nsource = { registry = "x" }\n'
    files = {"pyproject.toml": HEAD + 'dependencies = ["leaf"]\n', "uv.lock": lock}
    environment = of(tmp_path / "program", files)
    assert (environment.packages, environment.left_out, environment.needs_build) == (("leaf==2.0",), (), True)
    assert "uv.lock is not followed for leaf==1.0: it has no wheel" in environment.notes[0]
    assert not marks.seen()


@pytest.mark.slow
def test_wheels_that_ask_for_sources(index: PackageIndex, tmp_path: Path, marks: Marks) -> None:
    """The metadata of a package names addresses, too."""
    index.add("leaf")
    source = index.add_source("hostile", "1.0", {"pyproject.toml": OWN_BUILD, **marks.files})
    address = index.address.replace("/simple/", f"/files/{source.name}")
    index.add("stem", "1.0", f"hostile @ {address}")
    index.add("trunk", "1.0", f"late @ {address.replace('hostile', 'late')}")
    index.add_source("late", "1.0", {"pyproject.toml": OWN_BUILD, **marks.files})
    trunk = address.replace(source.name, "trunk-1.0-py3-none-any.whl")
    wheel = address.replace(source.name, "leaf-1.0-py3-none-any.whl")
    environment = of(tmp_path / "program", {"requirements.txt": f"stem\nleaf @ {wheel}\ntrunk @ {trunk}\n"})
    assert not marks.seen()
    assert sorted(line.partition(" is left out")[0] for line in environment.left_out) == ["hostile", "late"]
    assert ask(environment, "import leaf, stem, trunk; print(leaf.version)") == "1.0"
    with pytest.raises(UserError):
        of(tmp_path / "other", {"requirements.txt": "leaf>3\n"})
