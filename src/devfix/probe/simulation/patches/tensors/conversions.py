"""Explicit moves: `.to`, `.cuda`, `.xpu`, `.cpu`, with "cuda" resolved in Python before C++ sees it."""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import handle_torch_function

from ... import hooks
from ...accelerators import devices, generators, kinds
from ...patching import overridden, wrap
from ...tensors.tensor import Tensor

inner = devices.inner
_PLAIN = (torch.dtype, bool, type(None), torch.memory_format)


def _names_device(value: Any) -> bool:
    return isinstance(value, (torch.device, str)) or (isinstance(value, int) and not isinstance(value, bool))


def _to(original: Any) -> Any:
    def to(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            if args and _names_device(args[0]):
                args = (inner(args[0]), *args[1:])
            elif kwargs.get("device") is not None:
                kwargs = {**kwargs, "device": inner(kwargs["device"])}
        except RuntimeError as error:
            hooks.failed(error, "torch.Tensor.to", (self,), {})
            raise
        return original(self, *args, **kwargs)

    return to


def _onto(original: Any) -> Any:
    name = kinds.now().name

    def onto(
        self: Any, device: Any = None, non_blocking: bool = False, memory_format: Any = torch.preserve_format
    ) -> Any:
        if overridden(self):
            given = (self,) if device is None else (self, device)
            asked: dict[str, Any] = {"non_blocking": True} if non_blocking else {}
            if memory_format is not torch.preserve_format:
                asked["memory_format"] = memory_format
            return handle_torch_function(getattr(Tensor, name), (self,), *given, **asked)
        if type(device) is int and device < 0:
            raise RuntimeError("Device index must not be negative")
        index = devices.index_named(name if device is None else device)
        if index is None:
            raise RuntimeError(f"Invalid device, must be {name} device")
        return self.to(devices.LAZY[index], non_blocking=non_blocking, memory_format=memory_format)

    return onto


def _parsing(original: Any) -> Any:
    """Let `module.to(rank)` name a GPU, for which C++ would use the build's accelerator."""

    def parse_to(*args: Any, **kwargs: Any) -> Any:
        if args and type(args[0]) is int:
            args = (torch.device(kinds.now().name, args[0]), *args[1:])
        elif type(kwargs.get("device")) is int:
            kwargs["device"] = torch.device(kinds.now().name, kwargs["device"])
        return original(*args, **kwargs)

    return parse_to


def install() -> None:
    """Patch the moves."""
    wrap(Tensor, "to", _to)
    wrap(Tensor, kinds.now().name, _onto)
    wrap(torch._C._nn, "_parse_to", _parsing)
    wrap(torch, "Generator", lambda original: generators.Generator)
    torch.Generator.__module__ = "torch"  # pickles name it, and `torch._C.Generator` is the class that it replaces
