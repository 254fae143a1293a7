"""docs/reference/sdk.md and docs/reference/rules.md are generated from docstrings and pages; every example is run."""

from __future__ import annotations

import doctest
import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

import libcst as cst
import pytest

from devfix import sdk
from devfix.sdk import changes, fixes, trace
from devfix.sdk.trace import sites

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from rules_and_sdk import RULES, SDK, fill, index, split_docstring  # noqa: E402

sys.path.remove(str(ROOT / "scripts"))
HINT = "run: python scripts/rules_and_sdk.py"


def run_path_of(code: str, names: dict[str, Any]) -> dict[str, Any]:
    """The names that code of the page binds."""
    exec(compile(code, str(SDK), "exec"), names)
    return names


@pytest.fixture(scope="module")
def names() -> Iterator[dict[str, Any]]:
    """What the examples speak of, from a real run of the program that docs/reference/sdk.md shows."""
    program, setup = re.findall(r"```python\n(.*?)```", SDK.read_text("utf-8"), re.DOTALL)
    public: dict[str, Any] = {name: getattr(sdk, name) for name in sdk.__all__}
    yield {**public, "cst": cst, **run_path_of(setup, {**public, "program": program})}


@pytest.mark.parametrize("name", sdk.__all__)
def test_every_public_name_is_described_and_its_example_is_true(name: str, names: dict[str, Any]) -> None:
    prose, example = split_docstring(name)
    assert prose, f"{name} has no docstring"
    assert example, f"{name} has no example: give its docstring one"
    test = doctest.DocTestParser().get_doctest(example + "\n", dict(names), name, "docs/reference/sdk.md", 0)
    said: list[str] = []
    doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    assert not said, "".join(said)


def test_methods_of_files_are_described_and_their_examples_are_true(names: dict[str, Any]) -> None:
    for thing in (sdk.File, sdk.Sources):
        for test in doctest.DocTestFinder().find(thing, thing.__name__, globs=dict(names)):
            said: list[str] = []
            doctest.DocTestRunner(verbose=False).run(test, out=said.append)
            assert not said, "".join(said)


@pytest.mark.parametrize("package", [fixes, trace])
def test_examples_behind_the_public_names_are_true(package: ModuleType, names: dict[str, Any]) -> None:
    modules = [importlib.import_module(f"{package.__name__}.{each.name}") for each in iter_modules(package.__path__)]
    known = {name: each for module in (*modules, changes, sites) for name, each in vars(module).items()}
    tests = [
        test
        for module in modules
        for test in doctest.DocTestFinder().find(module, module.__name__, globs={**known, **names})
    ]
    assert any(test.examples for test in tests)
    for test in tests:
        said: list[str] = []
        doctest.DocTestRunner(verbose=False).run(test, out=said.append)
        assert not said, "".join(said)


def test_the_reference_is_made_from_the_docstrings() -> None:
    page = SDK.read_text("utf-8")
    assert page == fill(page), HINT


def test_the_index_is_made_from_the_pages() -> None:
    assert RULES.read_text("utf-8") == index(), HINT


@pytest.mark.slow
def test_the_script_tells_drift() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "rules_and_sdk.py"), "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_sdk_has_a_version() -> None:
    assert re.fullmatch(r"\d+\.\d+", sdk.__version__)
