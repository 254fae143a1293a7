"""Scripts that reach torch through an installed package, told by the metadata and files of real distributions."""

from __future__ import annotations

import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest
from git_repositories import write

from devfix.dependencies import Declared, declared_dependencies, distribution_for
from devfix.discovery import Command, discover
from devfix.errors import UserError

GUARD = 'if __name__ == "__main__":\n    main()\n'
# Four distributions: one needs torch, one needs that one, one imports torch without saying so, one has it as an extra.
WHEELS = {
    "deepkit": (["torch>=2.0", "numpy"], {"deepkit/__init__.py": "x = 1\n"}),
    "deep-kit-trainer": (["deepkit (>=1)"], {"kit_trainer/__init__.py": "x = 1\n"}),
    "graphs": ([], {"graphs/__init__.py": "from graphs import nn\n", "graphs/nn.py": "import torch\n"}),
    "tables": (
        ['torch; extra == "torch"'],
        {
            "tables/__init__.py": "x = 1\n",
            **{f"tables/part{number}.py": "x = 1\n" for number in range(20)},
            "tables/to_torch.py": "def convert(x):\n    import torch\n",
        },
    ),
}


def wheel(folder: Path, name: str, requires: list[str], files: dict[str, str]) -> Path:
    stem = f"{name.replace('-', '_')}-1.0"
    told = "".join(f"Requires-Dist: {each}\n" for each in requires)
    info = {
        f"{stem}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{told}",
        f"{stem}.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},,\n" for path in (*files, *info, f"{stem}.dist-info/RECORD"))
    path = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for member, text in {**files, **info, f"{stem}.dist-info/RECORD": record}.items():
            archive.writestr(member, text)
    return path


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment in which the wheels are installed: unpacked, as installers do with such."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder / "env", with_pip=False, symlinks=True)
    site = sysconfig.get_path("purelib", "venv", {"base": str(folder / "env"), "platbase": str(folder / "env")})
    for name, (requires, files) in WHEELS.items():
        with zipfile.ZipFile(wheel(folder, name, requires, files)) as archive:
            archive.extractall(site)
    return folder / "env" / "bin" / "python"


def shown(commands: tuple[Command, ...]) -> list[str]:
    return [command.shown for command in commands]


def test_a_script_that_reaches_torch_through_a_package_is_found(tmp_path: Path, python: Path) -> None:
    tracked = write(
        tmp_path,
        {
            "direct.py": "from deepkit import Trainer\n" + GUARD,
            "farther.py": "import kit_trainer.loop\n" + GUARD,
            "silent.py": "from graphs.nn import Conv\n" + GUARD,
            "rows.py": "import tables, json\n" + GUARD,
            "plain.py": "import json\n" + GUARD,
            "graphs_own.py": "from own import f\n" + GUARD,
            "own.py": "import deepkit\n",
            "without_guard.py": "import graphs\nfor epoch in range(2):\n    print(epoch)\n",
        },
    )
    assert shown(discover(tmp_path, tracked, None, python)) == [
        "python direct.py",
        "python farther.py",
        "python graphs_own.py",
        "python silent.py",
        "python without_guard.py",
    ]


def test_a_module_of_the_repository_is_not_taken_for_an_installed_one(tmp_path: Path, python: Path) -> None:
    tracked = write(tmp_path, {"run.py": "import graphs\n" + GUARD, "graphs.py": "x = 1\n"})
    with pytest.raises(UserError, match="no command found"):
        discover(tmp_path, tracked, None, python)


@pytest.mark.parametrize(
    "name", ["lightning", "lightning_fabric", "torch_geometric", "transformers", "botorch", "timm", "optimum"]
)
def test_a_known_library_that_is_not_installed_still_shows_the_script(tmp_path: Path, python: Path, name: str) -> None:
    tracked = write(tmp_path, {"run.py": f"import {name}\n" + GUARD})
    assert shown(discover(tmp_path, tracked, None, python)) == ["python run.py"]


def test_what_is_missing_is_named_with_the_place_that_declares_it(tmp_path: Path, python: Path) -> None:
    tracked = write(
        tmp_path,
        {
            "run.py": "import cv2\nimport unheard_of\n" + GUARD,
            "requirements.txt": "# the pictures\nnumpy\nopencv-python-headless>=4 ; python_version > '3'\n",
        },
    )
    with pytest.raises(UserError) as caught:
        discover(tmp_path, tracked, None, python)
    message = str(caught.value)
    assert "no command found that imports torch" in message
    assert f"not installed in {python}" in message
    assert "cv2 (opencv-python-headless in requirements.txt:3), unheard_of" in message
    assert message.endswith('--run "python run.py"')
    assert "\n" not in message


def test_a_repository_without_python_says_so(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no tracked Python file"):
        discover(tmp_path, write(tmp_path, {"README.md": "text\n"}), None, Path(sys.executable))


def test_scripts_without_a_guard_are_those_that_work_and_that_nobody_imports(tmp_path: Path) -> None:
    tracked = write(
        tmp_path,
        {
            "gcn.py": "import sys, torch\nsys.path.append('x')\nprint(torch.ones(2))\n",
            "layers.py": "import torch\nprint('loaded')\n",
            "use.py": "import layers\n",
            "names.py": "import sys, torch\nsys.path.append('x')\nSIZE = 3\n",
            "package/__init__.py": "",
            "package/part.py": "import torch\nprint(1)\n",
            "docs/example.py": "import torch\nprint(1)\n",
        },
    )
    assert shown(discover(tmp_path, tracked, None, Path(sys.executable))) == ["python gcn.py"]


DECLARING = {
    "pyproject.toml": (
        '[project]\nname = "x"\ndependencies = [\n  "einops",\n'
        "  \"torch-geometric[full]>=2.5; python_version>'3'\",\n]\n"
        '[dependency-groups]\ndev = ["pytest"]\n[tool.poetry.dependencies]\npython = "^3.10"\npython-dotenv = "^1"\n'
    ),
    "requirements/train.txt": "-r base.txt\nPillow==10.0  # pictures\ngit+https://example.org/x.git\n",
    "environment.yml": "dependencies:\n  - python=3.11\n  - conda-forge::scikit-learn=1.4\n  - pip:\n    - PyYAML>=6\n",
    "setup.cfg": "[metadata]\nname = y\n[options]\ninstall_requires =\n    tqdm\n    hydra-core>=1\n",
    "setup.py": "from setuptools import setup\nsetup(name='z', install_requires=[\n    'faiss-gpu>=1',\n])\n",
}


@pytest.mark.parametrize(
    ("module", "name", "place"),
    [
        ("torch_geometric", "torch-geometric", ("pyproject.toml", 5)),
        ("dotenv", "python-dotenv", ("pyproject.toml", 11)),
        ("PIL", "Pillow", ("requirements/train.txt", 2)),
        ("sklearn", "scikit-learn", ("environment.yml", 3)),
        ("yaml", "PyYAML", ("environment.yml", 5)),
        ("hydra", "hydra-core", ("setup.cfg", 6)),
        ("faiss", "faiss-gpu", ("setup.py", 3)),
    ],
)
def test_the_declared_dependency_of_an_import(module: str, name: str, place: tuple[str, int]) -> None:
    known = declared_dependencies(DECLARING, lambda path: DECLARING[path].encode())
    assert distribution_for(module, known) == Declared(name, *place)


def test_an_import_that_nothing_declares_has_no_dependency() -> None:
    known = declared_dependencies(DECLARING, lambda path: DECLARING[path].encode())
    assert distribution_for("wandb", known) is None
    assert "name" not in {each.name for each in known}
