"""What is read of each kind of file, in which order, and what is said of what is not taken."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from git_repositories import write

from devfix.environments.declared.declaration import Declaration, read_declaration
from devfix.errors import UserError


def declared(folder: Path, files: Mapping[str, bytes | str], subfolder: str = "") -> Declaration:
    folder.mkdir(exist_ok=True)
    write(folder, files)
    return read_declaration(folder, subfolder)


def texts(declaration: Declaration) -> list[str]:
    return [each.text for each in declaration.main.requirements]


def places(declaration: Declaration) -> list[str]:
    return [each.place for each in declaration.main.requirements]


PROJECT = '[project]\nname = "p"\nversion = "1"\ndependencies = [\n  "numpy",\n]\n'
POETRY = (
    '[tool.poetry]\nname = "p"\n[tool.poetry.dependencies]\npython = "^3.10"\n'
    'numpy = "^1.21"\nextra-one = { version = "1", optional = true }\n'
)


@pytest.mark.parametrize(
    ("files", "taken"),
    [
        (("pyproject.toml", "poetry.toml", "setup.cfg", "setup.py", "requirements.txt"), "pyproject.toml"),
        (("setup.cfg", "setup.py", "requirements.txt", "environment.yml"), "setup.cfg"),
        (("setup.py", "requirements.txt", "environment.yml"), "setup.py"),
        (("requirements.txt", "environment.yml"), "requirements.txt"),
        (("environment.yml",), "environment.yml"),
    ],
)
def test_the_first_kind_that_declares_something_counts(tmp_path: Path, files: tuple[str, ...], taken: str) -> None:
    contents = {
        "pyproject.toml": PROJECT,
        "poetry.toml": "",
        "setup.cfg": "[options]\ninstall_requires =\n  numpy\n",
        "setup.py": "from setuptools import setup\nsetup(install_requires=['numpy'])\n",
        "requirements.txt": "numpy\n",
        "environment.yml": "dependencies:\n- numpy\n",
    }
    found = declared(tmp_path, {name: contents[name] for name in files})
    assert found.main.title == taken and texts(found) == ["numpy"]


def test_requirement_files_with_all_that_people_write(tmp_path: Path) -> None:
    files = {
        "requirements.txt": (
            "# programs\n-r more/others.txt\n-c limits.txt\n-e .\n--index-url https://index.example/simple\n"
            "numpy>=2 ; python_version >= '3.10'  # arrays\n"
            "torch==2.7.1 \\\n    --hash=sha256:00 \\\n    --hash=sha256:11\n"
            "scipy @ file:///croot/scipy_1/work\n./lost\n./local[fast]\n"
        ),
        "more/others.txt": "-r ../requirements.txt\nidna\n",
        "limits.txt": "numpy<3\n",
        "local/setup.py": "",
    }
    found = declared(tmp_path, files)
    local = (tmp_path / "local").resolve()
    assert texts(found) == [*("idna", "numpy>=2 ; python_version >= '3.10'", "torch==2.7.1", "scipy", f"{local}[fast]")]
    assert places(found)[:3] == ["more/others.txt:2", "requirements.txt:6", "requirements.txt:7"]
    assert [each.text for each in found.constraints] == ["numpy<3"]
    assert found.index_options == ["--index-url https://index.example/simple"]
    assert len(found.notes) == 2 and "another machine" in found.notes[0] and "./lost" in found.notes[1]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_files_from_other_systems(tmp_path: Path, encoding: str) -> None:
    assert texts(declared(tmp_path, {"requirements.txt": "numpy\r\nidna\r\n".encode(encoding)})) == ["numpy", "idna"]


@pytest.mark.parametrize(
    "line",
    [
        "--extra-index-url https://ada:hidden@index.example/simple",
        "--extra-index-url https://hidden@index.example/simple",
        "--extra-index-url https://${hidden}@index.example/simple",
        "private @ git+https://hidden@host.example/private",
        "git+https://ada:hidden@host.example/private",
    ],
)
def test_a_credential_is_neither_used_nor_shown(tmp_path: Path, line: str) -> None:
    found = declared(tmp_path, {"requirements.txt": f"numpy\n{line}\n"})
    assert texts(found) == ["numpy"] and found.index_options == []
    (note,) = found.notes
    assert note.startswith("requirements.txt:2 names") and "hidden" not in note


def test_lines_that_are_no_requirements_are_left_out(tmp_path: Path) -> None:
    lines = "# $ conda create --file\nnumpy=1.19.2=py38_0\npip install torch\nidna>=3.*\n"
    found = declared(tmp_path, {"requirements.txt": lines})
    assert texts(found) == ["idna>=3"]
    assert found.notes == ["requirements.txt:2: 2 lines are not requirements and left out: numpy=1.19.2=py38_0"]


def test_requirements_from_version_control(tmp_path: Path) -> None:
    lines = [
        "one @ git+https://host.example/one@v1",
        "git+ssh://git@host.example/two",
        "https://host.example/three.whl",
    ]
    assert texts(declared(tmp_path, {"requirements.txt": "\n".join(lines)})) == lines


@pytest.mark.parametrize(
    ("names", "main", "tests"),
    [
        (
            ("requirements.txt", "requirements-dev.txt", "requirements-docs.txt"),
            "requirements.txt",
            ["requirements-dev.txt"],
        ),
        (("requirements/base.txt", "requirements/test.txt"), "requirements/base.txt", ["requirements/test.txt"]),
        (("requirements.in", "requirements.txt"), "requirements.txt", []),
        (("requirements_gpu.txt", "requirements_cpu.txt"), "requirements_cpu.txt", []),
        (("test-requirements.txt",), "", ["test-requirements.txt"]),
    ],
)
def test_which_requirement_files_count(tmp_path: Path, names: tuple[str, ...], main: str, tests: list[str]) -> None:
    found = declared(tmp_path, dict.fromkeys(names, "numpy\n"))
    assert found.main.title == main
    assert [part.title for part in found.optional] == tests


def test_the_tables_of_poetry(tmp_path: Path) -> None:
    more = (
        'idna = { git = "git@host.example:a/idna.git", tag = "v3" }\n'
        'scipy = [{ version = "1.9", python = "<3.11" },'
        ' { version = ">=1.11,<2", markers = "python_version >= \'3.11\'" }]\n'
        'local = { path = "local", develop = true }\n'
        '[tool.poetry.group.dev.dependencies]\npytest = "*"\n[tool.poetry.group.docs.dependencies]\nsphinx = "*"\n'
        '[tool.poetry.extras]\ntest = ["extra_one"]\n'
    )
    lock = '[[package]]\nname = "numpy"\nversion = "1.26.4"\n[[package]]\nname = "idna"\nversion = "3.4"\n'
    lock += '[package.source]\ntype = "git"\nurl = "https://host.example/a/idna.git"\nresolved_reference = "abc"\n'
    found = declared(tmp_path, {"pyproject.toml": POETRY + more, "poetry.lock": lock, "requirements.txt": "other\n"})
    assert texts(found) == [
        "numpy>=1.21,<2",
        "idna @ git+ssh://git@host.example/a/idna.git@v3",
        "scipy==1.9 ; python_full_version < '3.11'",
        "scipy>=1.11,<2 ; (python_version >= '3.11')",
        f"local @ {(tmp_path / 'local').resolve().as_uri()}",
    ]
    assert places(found)[0] == "pyproject.toml:5"
    optional = {part.title: [each.text for each in part.requirements] for part in found.optional}
    assert optional == {
        "the extra test of pyproject.toml": ["extra-one==1"],
        "the group dev of pyproject.toml": ["pytest"],
    }
    assert (found.python, found.files) == (">=3.10,<4", ["poetry.lock", "pyproject.toml"])
    assert found.pins.constraints == ("numpy==1.26.4",)
    assert found.pins.overrides == ("idna @ git+https://host.example/a/idna.git@abc",)


def test_groups_and_extras_of_a_project(tmp_path: Path) -> None:
    more = (
        '[project.optional-dependencies]\ntests = ["pytest"]\nvision = ["pillow"]\n'
        '[dependency-groups]\ndev = [{ include-group = "own" }]\nown = ["idna"]\nspeed = ["numba"]\n'
        '[tool.uv]\ndefault-groups = ["speed"]\n'
    )
    found = declared(tmp_path, {"pyproject.toml": PROJECT + more})
    path = tmp_path / "pyproject.toml"
    assert [part.options for part in found.optional] == [
        *(("--extra", "tests"), ("--group", f"{path}:dev"), ("--group", f"{path}:speed"))
    ]
    assert found.sources == [path]


def test_groups_from_before_there_was_a_standard(tmp_path: Path) -> None:
    more = '[tool.pdm.dev-dependencies]\ntest = ["pytest"]\nlint = ["ruff"]\n[tool.uv]\ndev-dependencies = ["idna"]\n'
    found = declared(tmp_path, {"pyproject.toml": PROJECT + more})
    assert [[each.text for each in part.requirements] for part in found.optional] == [["pytest"], ["idna"]]


def test_dependencies_that_stand_in_another_file(tmp_path: Path) -> None:
    project = '[project]\nname = "p"\nversion = "1"\ndynamic = ["dependencies"]\n'
    dynamic = '[tool.setuptools.dynamic]\ndependencies = { file = ["needs.txt"] }\n'
    found = declared(tmp_path, {"pyproject.toml": project + dynamic, "needs.txt": "numpy\n"})
    assert (texts(found), places(found), found.is_computed) == (["numpy"], ["needs.txt:1"], False)
    cfg = "[options]\npython_requires = >=3.9\ninstall_requires = file: needs.txt\n"
    cfg += "[options.extras_require]\ntest = pytest\n"
    found = declared(tmp_path, {"pyproject.toml": project, "setup.cfg": cfg})
    assert (texts(found), found.python, found.is_computed) == (["numpy"], ">=3.9", False)
    assert [part.title for part in found.optional] == ["the extra test of setup.cfg"]
    (tmp_path / "setup.cfg").unlink()
    assert declared(tmp_path, {"pyproject.toml": project}).is_computed


def test_a_setup_script_is_read_and_not_run(tmp_path: Path) -> None:
    script = (
        "raise SystemExit('run')\nfrom setuptools import setup\nNEEDS = [\n  'numpy>=1',\n]\n"
        "setup(install_requires=NEEDS, extras_require={'dev': ['pytest']}, python_requires='>=3.8')\n"
    )
    found = declared(tmp_path, {"setup.py": script})
    assert (texts(found), places(found), found.python) == (["numpy>=1"], ["setup.py:4"], ">=3.8")
    assert not found.is_computed
    computed = "from setuptools import setup\nsetup(install_requires=open('needs').read().split())\n"
    assert declared(tmp_path, {"setup.py": computed}).is_computed
    found = declared(tmp_path, {"requirements.txt": "idna\n"})
    assert (texts(found), found.is_computed) == (["idna"], False)


def test_an_environment_of_conda(tmp_path: Path) -> None:
    conda = (
        "name: x\nchannels: [pytorch]\ndependencies:\n"
        "  - python=3.10\n  - pytorch::pytorch>=2.6\n  - numpy=1.26=py310_0\n"
        "  - cudatoolkit=11.3\n  - ffmpeg\n  - pip\n  - pip:\n    - idna==3.4\n    - -r more.txt\n"
    )
    found = declared(tmp_path, {"environment.yml": conda, "more.txt": "click\n"})
    assert texts(found) == ["torch>=2.6", "numpy==1.26.*", "idna==3.4", "click"]
    assert places(found) == ["environment.yml:5", "environment.yml:6", "environment.yml:11", "more.txt:1"]
    assert found.usual_python == "==3.10.*"
    assert found.notes == ["environment.yml: packages of conda alone are left out: ffmpeg"]


def test_the_nearest_folder_counts(tmp_path: Path) -> None:
    files = {"requirements.txt": "numpy\n", "inner/requirements.txt": "idna\n", "other/run.py": ""}
    assert texts(declared(tmp_path, files, "inner")) == ["idna"]
    assert texts(declared(tmp_path, files, "other")) == ["numpy"]


@pytest.mark.parametrize(("name", "text"), [("pyproject.toml", "[project\n"), ("environment.yml", "a: [b\n")])
def test_a_file_that_cannot_be_parsed_is_one_line(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(UserError, match=f"{name}: not valid") as failed:
        declared(tmp_path, {name: text})
    assert "\n" not in str(failed.value)
