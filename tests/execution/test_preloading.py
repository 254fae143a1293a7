"""Branches of the warm process that have imported what a program imports from other packages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from probe_programs import PYTHON, run_program
from waiting import HANGS

from devfix.execution.prefork import PreforkServer
from devfix.execution.preloading import preload_branch
from devfix.process import child_environment

NAMES = [f"acme.part{number}" for number in range(12)]
TELLS = "import sys\nprint([name for name in ('acme.part0', 'plots', 'torch._dynamo') if name in sys.modules])\n"
PLOTS = {"plots": "", "plots.part": ""}


class Packages:
    """A folder of packages on the path of a warm process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {**child_environment(), "PYTHONPATH": str(folder)}
        self.warm = PreforkServer(PYTHON, self.environment)

    def write(self, modules: dict[str, str]) -> None:
        for name, text in modules.items():
            path = self.folder.joinpath(*name.split("."))
            is_package = any(other.startswith(f"{name}.") for other in modules)
            path = path / "__init__.py" if is_package else path.with_suffix(".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def loaded(self, imported: list[str]) -> str:
        """Return what a program finds imported."""
        (self.folder / "main.py").write_text(TELLS)
        branch = preload_branch(self.warm, imported, self.folder)
        done = branch.run(["main.py"], self.folder, self.environment, HANGS)
        assert done.exit_code == 0, done.stderr
        return done.stdout.strip()


@pytest.fixture
def packages(tmp_path: Path) -> Iterator[Packages]:
    made = Packages(tmp_path)
    made.write({"acme": "", **dict.fromkeys(NAMES, ""), **PLOTS})
    yield made
    made.warm.close()


@pytest.mark.slow
def test_programs_find_the_modules_imported(packages: Packages) -> None:
    assert packages.loaded(["acme", *NAMES, "plots"]) == "['acme.part0', 'plots']"


@pytest.mark.slow
def test_a_package_that_names_torch_is_left_out(packages: Packages) -> None:
    packages.write({"acme": "", "acme.part3": "def f():\n    from torch import nn\n", **dict.fromkeys(NAMES[4:], "")})
    assert packages.loaded(["acme", *NAMES, "plots"]) == "['plots']"


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "print('hello')",
        "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
        "raise SystemExit",
        "__import__('acme')",  # which is left out, since it names torch
    ],
)
def test_no_branch_is_made_where_an_import_does_more_than_define(packages: Packages, text: str) -> None:
    packages.write({"acme": "import torch", "acme.part0": "", "plots": text, "plots.part": ""})
    assert packages.loaded(["acme", *NAMES, "plots"]) == "[]"


@pytest.mark.slow
def test_few_modules_make_no_branch(packages: Packages) -> None:
    assert preload_branch(packages.warm, ["plots"], packages.folder) is packages.warm
    assert preload_branch(packages.warm, ["torch", "numpy", "torch.nn", "plots"], packages.folder) is packages.warm


@pytest.mark.slow
def test_the_compiler_is_imported_for_programs_with_an_optimizer(packages: Packages) -> None:
    assert packages.loaded(["torch._dynamo"]) == "['torch._dynamo']"


@pytest.mark.slow
@pytest.mark.parametrize(("sets", "found"), [("", True), ("os.environ['PLOTS'] = 'agg'; ", False)])
def test_traces_name_imported_modules_where_the_environment_is_unchanged(
    tmp_path: Path, sets: str, found: bool
) -> None:
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / "plots.py").write_text("")
    source = f"import sys, os, json\nsys.path.append({str(tmp_path / 'packages')!r})\n{sets}import torch, plots\n"
    ran = run_program(tmp_path, source)
    imported = ran.trace["imported"]
    assert ("plots" in imported, "numpy" in imported) == (found, found), json.dumps(imported)
    assert not {"torch", "json", "program"} & set(imported)
