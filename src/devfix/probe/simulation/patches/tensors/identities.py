"""Give `__torch_function__` handlers, and all names of a function, the same object as `torch` has.

A handler gets what C++ finds under the function's name: in `torch._C._linalg` for `torch.linalg`, in the class of
`torch._C._VariableFunctions` for `torch`. That class is immutable in Python; its dictionary is not.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import types
from typing import Any

import torch
import torch.overrides
import torch.utils._device

from ...patching import replace, replaced_attributes, undo_with

_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType)
_SPACES = ("torch", "torch.functional", "torch.linalg", "torch.fft", "torch.sparse", "torch.special", "torch._C._nn")
_indexed: dict[int, tuple[int, list[tuple[str, Any]]]] = {}  # by module: its number of names, and its functions
_forget_types: Any = ctypes.pythonapi.PyType_Modified
_forget_types.argtypes = [ctypes.py_object]


def _replacements() -> dict[int, tuple[Any, Any]]:
    """Return the replacement of each function by the function's id, with the function itself."""
    found: dict[int, tuple[Any, Any]] = {}
    for owner, name in replaced_attributes():
        if getattr(owner, "__name__", "") not in _SPACES or not isinstance(owner, types.ModuleType):
            continue
        now = original = getattr(owner, name)
        while (inner := getattr(original, "_devfix_original", None)) is not None:
            original = inner
        if type(original) in _FUNCTIONS and original is not now:
            found.setdefault(id(original), (original, now))
    return found


def _modules() -> list[Any]:
    return [module for name, module in list(sys.modules.items()) if name == "torch" or name.startswith("torch.")]


def index() -> None:
    """Remember which names of PyTorch's modules are functions: a process in which no world is entered, for its forks.

    There are 29,000 names in its modules, of which 10,000 are functions: a world is entered in 0.035 s, not in 0.05 s.
    """
    for module in (*_modules(), *_tables()):
        if type(module) is types.ModuleType:
            _indexed[id(module)] = len(vars(module)), _functions(module)


def _functions(module: types.ModuleType) -> list[tuple[str, Any]]:
    return [(name, value) for name, value in list(vars(module).items()) if type(value) in _FUNCTIONS]


def _name_alike(shown: dict[int, tuple[Any, Any]]) -> None:
    """Replace a function wherever a module of PyTorch names it."""
    for module in (*_modules(), *_tables()):
        if type(module) is not types.ModuleType:
            continue
        size, functions = _indexed.get(id(module), (-1, []))
        for name, value in functions if size == len(vars(module)) else _functions(module):
            if id(value) in shown and vars(module).get(name) is value:
                replace(module, name, shown[id(value)][1])


def _tables() -> list[Any]:
    """Return the modules in which C++ looks, not all of which are in `sys.modules`."""
    names = ("_nn", "_linalg", "_fft", "_special", "_sparse", "_nested")
    return [module for name in names if (module := getattr(torch._C, name, None)) is not None]


def _fill_class(shown: dict[int, tuple[Any, Any]]) -> None:
    """Replace functions in the class of `torch._C._VariableFunctions`, where C++ looks for those of `torch`."""
    kind: Any = type(torch._C._VariableFunctions)
    inside = gc.get_referents(vars(kind))
    if len(inside) != 1 or type(inside[0]) is not dict:
        return  # another Python implementation: functions of `torch` are equal to what arrives, but not identical
    table: dict[str, Any] = inside[0]
    before = {}
    for name, entry in table.items():
        function = getattr(entry, "__func__", None)
        if id(function) in shown:
            before[name] = entry
    table.update({name: staticmethod(shown[id(entry.__func__)][1]) for name, entry in before.items()})
    _forget_types(kind)

    def restore() -> None:
        table.update(before)
        _forget_types(kind)

    undo_with(restore)


def _forget_tables() -> None:
    """Let PyTorch rebuild its cached tables of functions."""
    for table in (*vars(torch.overrides).values(), *vars(torch.utils._device).values()):
        if hasattr(table, "cache_clear"):
            table.cache_clear()


def install() -> None:
    """Patch the names; last, since it uses the other patches."""
    shown = _replacements()
    _name_alike(shown)
    _fill_class(shown)
    _forget_tables()
    undo_with(_forget_tables)
