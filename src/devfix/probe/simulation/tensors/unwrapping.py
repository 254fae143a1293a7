"""Unwrap the values of simulated tensors before an operator runs, and wrap its results."""

from __future__ import annotations

from typing import Any

from .tensor import Tensor, reshape_shell, wrap

MIXED = -2


def unwrap_list(argument: Any, gpu: int | None) -> tuple[Any, int | None]:
    """Return the values of a list of tensors, and the device seen so far (-1 the CPU, MIXED several)."""
    cells = []
    for item in argument:
        if isinstance(item, Tensor):
            here = item._devfix_gpu
            cells.append(item if here < 0 else item._devfix_held)
            if here != gpu:
                gpu = here if gpu is None else MIXED
        else:
            cells.append(item)
    return cells, gpu


def unwrap(argument: Any, gpu: int | None) -> tuple[Any, int | None]:
    """Do the same as `unwrap_list`, for any argument of an operator."""
    if isinstance(argument, Tensor):
        cells, gpu = unwrap_list((argument,), gpu)
        return cells[0], gpu
    if isinstance(argument, (list, tuple)):
        return unwrap_list(argument, gpu)
    return argument, gpu


def unwrap_keywords(kwargs: dict[str, Any], gpu: int | None) -> tuple[dict[str, Any], int | None]:
    """Do the same as `unwrap`, for keyword arguments."""
    cells = {}
    for name, argument in kwargs.items():
        cells[name], gpu = unwrap(argument, gpu)
    return cells, gpu


def unwrap_all(args: Any, kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any], int | None]:
    """Do the same as `unwrap`, for a whole call."""
    cells = []
    gpu: int | None = None
    for argument in args:
        cell, gpu = unwrap(argument, gpu)
        cells.append(cell)
    keywords, gpu = unwrap_keywords(kwargs, gpu)
    return cells, keywords, gpu


def tensors_of(args: Any, kwargs: Any) -> list[Any]:
    """Yield every tensor among the arguments, including those in lists."""
    found = []
    for argument in (*args, *(kwargs or {}).values()):
        if isinstance(argument, Tensor):
            found.append(argument)
        elif isinstance(argument, (list, tuple)):
            found += [item for item in argument if isinstance(item, Tensor)]
    return found


def rewrap(plan: Any, result: Any, args: Any, kwargs: Any, gpu: int) -> Any:
    """Wrap the result of an operator; if it returns one of its arguments, return that argument."""
    simulated = [item for item in tensors_of(args, kwargs) if item._devfix_gpu >= 0]
    if plan.reshapes:
        for item in simulated:
            reshape_shell(item)
    known = {id(item._devfix_held): item for item in simulated}
    return _rewrap(result, known, gpu)


def _rewrap(result: Any, known: dict[int, Any], gpu: int) -> Any:
    if isinstance(result, Tensor):
        same = known.get(id(result))
        if same is not None:
            return same
        return wrap(result, gpu) if result.device.type == "cpu" else result
    if isinstance(result, (list, tuple)):
        return type(result)(_rewrap(item, known, gpu) for item in result)
    return result
