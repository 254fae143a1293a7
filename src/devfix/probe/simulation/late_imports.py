"""Patch a module of PyTorch as soon as it is imported."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from .patching import undo_with


class _Telling(Loader):
    def __init__(self, loader: Any, act: Callable[[Any], None]) -> None:
        self._loader, self._act = loader, act

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        made: ModuleType | None = self._loader.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._act(module)


class _Finder(MetaPathFinder):
    def __init__(self, name: str, act: Callable[[Any], None]) -> None:
        self._name, self._act = name, act

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if fullname != self._name:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Telling(spec.loader, self._act)
        return spec


def when_imported(name: str, act: Callable[[Any], None]) -> None:
    """Call `act(module)` now, or as soon as the module of this name is imported while the world lasts."""
    if name in sys.modules:
        act(sys.modules[name])
        return
    finder = _Finder(name, act)
    sys.meta_path.insert(0, finder)
    undo_with(lambda: sys.meta_path.remove(finder) if finder in sys.meta_path else None)
