"""Exclude what PyTorch's compiler runs while it is imported from the count of operators.

A program's first optimizer imports it, while a prefork server may have done so already: in 2.6 that is 67 operators, by
which two runs of one program would differ.
"""

from __future__ import annotations

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from ..simulation.patching import undo_with
from . import records

NAME = "torch._dynamo"


class _Counting(Loader):
    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        made: ModuleType | None = self._loader.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        spec = module.__spec__
        if spec is not None:
            spec.loader = module.__loader__ = self._loader
        before = records.operations()
        try:
            self._loader.exec_module(module)
        finally:
            records.leave_out(records.operations() - before + 1)  # the two queries count too


class _Finder(MetaPathFinder):
    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if fullname != NAME:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Counting(spec.loader)
        return spec


def install() -> None:
    """Watch for the compiler's import, if it has not happened yet."""
    if NAME not in sys.modules:
        finder = _Finder()
        sys.meta_path.insert(0, finder)
        undo_with(lambda: sys.meta_path.remove(finder) if finder in sys.meta_path else None)
