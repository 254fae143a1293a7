"""The modules of other packages that the program has imported, which a warm process may import before it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from types import ModuleType

from ..provenance import compiler_import, places

_LIMIT = 4000
_SET_BY_TORCH = ("TORCH", "KMP_", "OMP_", "TRITON_", "PYTORCH_", "PYTEST_", "CUDA_MODULE_LOADING")
_before: dict[str, str] = {}


def begin(environment: Mapping[str, str]) -> None:
    """Remember the environment in which the program started."""
    _before.clear()
    _before.update(environment)


def export() -> list[str]:
    """Return the names of the modules in the order of their imports, without those of torch and the standard library.

    Returns none if the program has changed its environment: what is imported later may have read it.
    """
    if _set_by_user(dict(os.environ)) != _set_by_user(_before):
        return []
    found = []
    for name, module in list(sys.modules.items()):
        top = name.partition(".")[0]
        if name == compiler_import.NAME:
            found += [name] if compiler_import.is_imported() else []
        elif top not in sys.stdlib_module_names and top != "torch" and type(module) is ModuleType:
            file = getattr(module, "__file__", None)
            if isinstance(file, str) and places.learn(file) == places.FOREIGN:
                found.append(name)
    return found[:_LIMIT]


def _set_by_user(environment: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if not name.startswith(_SET_BY_TORCH)}
