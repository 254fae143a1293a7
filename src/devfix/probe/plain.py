"""The worlds without simulation: watch what the operators do, and change nothing."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from . import hooks


class Watcher(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Tell provenance of every operator's results, of copies between devices, and of errors.

    The method is set below, so that PyTorch does not wrap it for Dynamo.
    """


def dispatch(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """Run the operator as it is."""
    kwargs = kwargs or {}
    try:
        result = func(*args, **kwargs)
    except Exception as exception:
        hooks.failed(exception, func, args, kwargs)
        raise
    if isinstance(result, torch.Tensor | tuple | list):
        name = func._schema.name
        if name in ("aten::_to_copy", "aten::copy_") and args[0 if name == "aten::_to_copy" else 1] is not result:
            source = args[0] if name == "aten::_to_copy" else args[1]
            if isinstance(result, torch.Tensor) and source.device != result.device:
                hooks.moved(result, source, func)
                return result
        hooks.born(result, func, args, kwargs)
    return result


Watcher.__torch_dispatch__ = dispatch  # type: ignore[method-assign]


def watch_operators() -> None:
    """Watch all operators of the calling thread from now on."""
    Watcher().__enter__()  # type: ignore[no-untyped-call]
