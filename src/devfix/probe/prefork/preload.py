"""Import, in a branch of the prefork server, what a program imports of packages that do not use torch.

A package is left out if it names torch: what it imports of it must be found in the world of the program; and if it is a
plugin of pytest, which has to import it first. An import that asks for such a package, prints something or starts a
thread raises, and there is no branch.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib
import importlib.metadata
import importlib.util
import io
import os
import re
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

COMPILER = "torch._dynamo"
_NAMES_TORCH = re.compile(
    rb"^\s*(?:import|from)\s+torch\b|import_module\(\s*[\"']torch\b",
    re.MULTILINE,
)


class Excluded(BaseException):
    """An import of a package that is left out; not an Exception, which a package may handle."""


def preload(modules: Sequence[str], excluded: Collection[str], folder: str) -> None:
    """Import modules in the working folder of the program, without the packages of `excluded`. Raises RuntimeError."""
    if COMPILER in modules and "torch" in sys.modules:
        importlib.import_module(COMPILER)
    new = [name for name in modules if name not in sys.modules and name != COMPILER]
    left_out = {"torch", *excluded, *_test_plugins(), *(_package(name) for name in new if _is_left_out(name))}
    threads, printed = threading.active_count(), io.StringIO()
    with (
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
        _working_in(folder),
        _refusing(left_out),
    ):
        for name in new:
            if _package(name) not in left_out:
                with contextlib.suppress(ImportError):
                    importlib.import_module(name)
    if printed.getvalue():
        raise RuntimeError(f"an import prints: {printed.getvalue()[-500:]}")
    if threading.active_count() > threads:
        raise RuntimeError("an import starts a thread")


def _package(name: str) -> str:
    return name.partition(".")[0]


def _test_plugins() -> Iterator[str]:
    for each in importlib.metadata.entry_points(group="pytest11"):
        yield _package(each.value)


def _is_left_out(name: str) -> bool:
    """Return whether a module is not found, or its source names torch."""
    try:
        file = _source_of(name)
        if file is None or not file.endswith(".py"):
            return file is None
        with open(file, "rb") as source:
            return bool(_NAMES_TORCH.search(source.read()))
    except (ImportError, AttributeError, ValueError, OSError):
        return True


def _source_of(name: str) -> str | None:
    """Return the file of a module without importing its package; "" if it has none, None if there is no package."""
    top, *inner = name.split(".")
    spec = importlib.util.find_spec(top)
    if spec is None:
        return None
    if not inner:
        return spec.origin or ""  # a namespace package has no file
    paths = [os.path.join(folder, *inner) for folder in spec.submodule_search_locations or ()]
    files = [path + end for path in paths for end in (".py", os.sep + "__init__.py")]
    return next((file for file in files if os.path.exists(file)), "")


@contextlib.contextmanager
def _working_in(folder: str) -> Iterator[None]:
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@contextlib.contextmanager
def _refusing(packages: Collection[str]) -> Iterator[None]:
    """Raise Excluded where one of these packages is imported."""
    plain: Callable[..., Any] = builtins.__import__

    def guarded(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        if level == 0 and _package(name) in packages:
            raise Excluded(name)
        return plain(name, globals, locals, fromlist, level)

    builtins.__import__ = guarded
    try:
        yield
    finally:
        builtins.__import__ = plain
