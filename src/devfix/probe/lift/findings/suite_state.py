"""Find what test code itself keeps between two tests: globals, attributes of its classes, and caches of its functions.

That is no cache of the code under test: a second run would not have it, in a process of its own.
"""

from __future__ import annotations

import functools
import gc
import itertools
import sys
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType, ModuleType
from typing import Any

import torch

from ...inspection.members import is_a
from .. import modules
from ..whose import Whose, kind_of, learn

_DEPTH, _ITEMS = 4, 5000
_CONTAINERS = (dict, list, tuple, set, frozenset)
_CACHED = type(functools.lru_cache(lambda: None))


def keeps(is_it: Callable[[torch.Tensor], bool]) -> bool:
    """Return whether test code keeps a certain tensor, alone or with a module or container that holds it."""
    mine, others = _modules()
    imported = {id(value) for module in others for value in list(vars(module).values()) if _is_container(value)}
    values = (value for module in mine for value in list(vars(module).values()) if id(value) not in imported)
    tensors = (tensor for value in values for tensor in _tensors(value, _DEPTH))
    return any(is_it(each) for each in itertools.islice(tensors, _ITEMS))


def _modules() -> tuple[list[ModuleType], list[ModuleType]]:
    """Return the modules of test code, and those of the code under test."""
    found: dict[Whose, list[ModuleType]] = {Whose.TEST: [], Whose.CODE: []}
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if isinstance(path, str) and is_a(module, ModuleType):
            found.setdefault(learn(path), []).append(module)
    return found[Whose.TEST], found[Whose.CODE]


def _tensors(value: Any, depth: int) -> Iterator[torch.Tensor]:
    if is_a(value, torch.Tensor):
        yield value
    elif is_a(value, torch.nn.Module):
        yield from modules.tensors_of(value)
    elif depth:
        for item in _items(value):
            yield from _tensors(item, depth - 1)


def _items(value: Any) -> Iterable[Any]:
    if is_a(value, dict):
        return list(value.values())
    if _is_container(value):
        return list(value)
    if type(value) is _CACHED:
        return gc.get_referents(value) if _is_of_test(value.__wrapped__) else ()
    if isinstance(value, type):
        methods = (each for each in vars(value).values() if isinstance(each, FunctionType))
        return list(vars(value).values()) if any(map(_is_of_test, methods)) else ()
    return ()


def _is_container(value: Any) -> bool:
    return issubclass(type(value), _CONTAINERS)


def _is_of_test(function: Any) -> bool:
    code = getattr(function, "__code__", None)
    return code is not None and kind_of(code) == Whose.TEST
