"""The files that are test code, by pytest's configuration: what they make is put on a GPU."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from devfix.pytest_gpus import options
from devfix.pytest_gpus.project_root import project_root

_NAMED = re.compile(r"(^|[-_.])(tests?|testsuites?|unittests?|integrationtests?)([-_.]|$)")
_AT_ROOT = "testing"  # a suite's helpers there; below a package they are part of it, as in `numpy.testing`
_HELPER = re.compile(r"(^|[-_.])(tests?|testing|test(case|util)s?)([-_.]|$)")
_USES_RUNNER = re.compile(r"^\s*(import|from)\s+(unittest|pytest)\b", re.MULTILINE)
_LEFT_OUT = frozenset({"node_modules", "__pycache__", "build", "dist", "site-packages", "dist-packages"})
_MOST = 20_000  # folders that are looked at


def test_code(config: pytest.Config) -> dict[str, Any]:
    """Return what the probe is told: names of files, whole folders and globs that are test code.

    A folder is one of tests where its name says so (`test`, `tests`, `unittests`, `tests_fabric`; `testing` at the
    root), and where pytest's `testpaths` names it and it holds tests and is no package. Elsewhere `python_files` and
    `conftest.py` count, and what a package has for its tests: a file of such a name, or of a folder `testing`, that
    imports what runs them, as one with the class from which the tests derive does.
    """
    names = ["conftest.py", *config.getini("python_files")]
    told_by: Any = config.known_args_namespace
    told = [*config.getini(options.LIFT_TESTS), *told_by.devfix_lift_tests]
    root = project_root(config)
    if told_by.devfix_lift_scripts:
        told += {os.path.dirname(each) or each for each in told_by.file_or_dir if each.endswith(".py")}
    folders = {*_named_folders(root), *_configured_folders(config, names)}
    files = []
    for each in told:
        path = os.path.normpath(config.invocation_params.dir / each)
        if os.path.isdir(path):
            folders.add(Path(path))
        else:
            files.append(path)
    return {
        "root": str(root),
        "names": [name for name in names if "/" not in name],
        "folders": sorted(map(str, folders)),
        "twice": bool(told_by.devfix_lift_twice),
        "tells": bool(told_by.devfix_lift_device),
        "strict": bool(told_by.devfix_lift_strict or told_by.devfix_lift_strict_at),
        "places": _places("--lift-strict-at", told_by.devfix_lift_strict_at, config.invocation_params.dir),
        "past": _places("--lift-past", told_by.devfix_lift_past, config.invocation_params.dir),
        "files": [*files, *(str(config.rootpath / name) for name in names if "/" in name), *_helper_files(root)],
    }


def _places(option: str, told: Sequence[str], folder: Path) -> list[tuple[str, str]]:
    """Return the path and the line or function of each of `library.py:12` and `library.py:Net.__init__`."""
    found = []
    for text in told:
        path, _, at = text.rpartition(":")
        if not path:
            raise pytest.UsageError(f"{option} {text}: give a place as FILE:LINE or FILE:FUNCTION")
        found.append((os.path.realpath(folder / path), at))
    return found


def _named_folders(root: Path) -> Iterator[Path]:
    for folder, below, _ in _walk(root):
        yield from (folder / name for name in below if _is_of_tests(folder / name, root))
        below[:] = [name for name in below if not _is_of_tests(folder / name, root)]


def _helper_files(root: Path) -> Iterator[str]:
    """Yield the files below packages that are named as helpers of tests, and import what runs tests."""
    for folder, below, files in _walk(root):
        below[:] = [name for name in below if not _is_of_tests(folder / name, root)]
        for name in files:
            is_named = name.endswith(".py") and (folder.name == _AT_ROOT or _HELPER.search(name.lower()))
            if is_named and _uses_runner(folder / name):
                yield glob.escape(str(folder / name))


def _uses_runner(path: Path) -> bool:
    try:
        return _USES_RUNNER.search(path.read_text(encoding="utf-8", errors="replace")) is not None
    except OSError:  # a link that leads nowhere, or a file of another user
        return False


def _is_of_tests(folder: Path, root: Path) -> bool:
    return _NAMED.search(folder.name.lower()) is not None or (folder.name == _AT_ROOT and folder.parent == root)


def _walk(root: Path) -> Iterator[tuple[Path, list[str], list[str]]]:
    """Yield the folders that may be a suite's or a package's, as `os.walk` does."""
    for folder, below, files in islice(os.walk(root), _MOST):
        below[:] = [
            name
            for name in below
            if not name.startswith(".") and name not in _LEFT_OUT and not Path(folder, name, "pyvenv.cfg").exists()
        ]
        yield Path(folder), below, files


def _configured_folders(config: pytest.Config, names: Sequence[str]) -> Iterator[Path]:
    for name in config.getini("testpaths"):
        for folder in config.rootpath.glob(name):
            is_suite = folder.is_dir() and folder != config.rootpath and not (folder / "__init__.py").exists()
            if is_suite and any(fnmatch(path.name, each) for path in folder.rglob("*.py") for each in names[1:]):
                yield folder
