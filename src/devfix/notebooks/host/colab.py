"""Stand-ins for `google.colab`, where a notebook of Colab imports it without asking whether it is there."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from ..magics import mask_cell

_NAME = "google.colab"


def stand_in(cells: Iterable[str]) -> None:
    """Provide `google.colab` if cells import it where an ImportError would end them, and it is not installed.

    A cell that catches the error asks by it whether it runs on Colab: there it is not provided.
    """
    imports = list(_imports(cells))
    if imports and all(imports) and not _is_installed():
        sys.meta_path.append(_Finder())


def _imports(cells: Iterable[str]) -> Iterator[bool]:
    """Yield for each import of `google.colab` whether an error of it is not caught."""
    for text in cells:
        if "colab" not in text:
            continue
        try:
            tree = ast.parse(mask_cell(text))
        except (SyntaxError, ValueError):
            continue
        caught = {id(node) for each in ast.walk(tree) if isinstance(each, ast.Try) for node in ast.walk(each)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            else:
                continue
            if any(f"{name}.".startswith(f"{_NAME}.") for name in names):
                yield id(node) not in caught


def _is_installed() -> bool:
    try:
        return find_spec(_NAME) is not None
    except (ImportError, ValueError):
        return False


class _Finder(MetaPathFinder, Loader):
    """Finds `google.colab` and what is below it, and `google` if nothing else has that name."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the specification of a stand-in."""
        if fullname != "google" and not f"{fullname}.".startswith(f"{_NAME}."):
            return None
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return an empty module whose names are functions that do nothing."""
        return _StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the module is complete."""


class _StandIn(ModuleType):
    """A module of Colab away from Colab."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        whole = f"{self.__name__}.{name}"
        if whole == f"{_NAME}.userdata.get":
            return os.environ.get
        if self.__name__ in ("google", _NAME):
            __import__(whole)
            return sys.modules[whole]

        def nothing(*args: Any, **kwargs: Any) -> Any:
            print(f"devfix: {whole} does nothing outside of Colab", file=sys.stderr)
            return {} if name == "upload" else None

        return nothing
