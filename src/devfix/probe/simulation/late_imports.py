"""Act on a module as soon as it is imported, while the world lasts."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from .patching import undo_with

Execute = Callable[[ModuleType, Callable[[], None]], None]


def around_import(name: str, execute: Execute) -> None:
    """Call `execute(module, run)` in place of running the code of a module; it has to call `run()`, which does so."""
    finder = _Finder(name, execute)
    sys.meta_path.insert(0, finder)
    undo_with(lambda: sys.meta_path.remove(finder) if finder in sys.meta_path else None)


def when_imported(name: str, act: Callable[[Any], None]) -> None:
    """Call `act(module)` now, or as soon as the module of this name is imported."""
    if name in sys.modules:
        act(sys.modules[name])
        return

    def execute(module: ModuleType, run: Callable[[], None]) -> None:
        run()
        act(module)

    around_import(name, execute)


class _Finder(MetaPathFinder):
    def __init__(self, name: str, execute: Execute) -> None:
        self._name, self._execute = name, execute

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if fullname != self._name:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self._execute)
        return spec


class _Loader(Loader):
    def __init__(self, loader: Any, execute: Execute) -> None:
        self._loader, self._execute = loader, execute

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        made: ModuleType | None = self._loader.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = module.__loader__ = self._loader
        self._execute(module, lambda: self._loader.exec_module(module))
