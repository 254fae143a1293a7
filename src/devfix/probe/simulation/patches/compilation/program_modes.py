"""Dispatch modes of the program's own: they hear of devices by the names that the program knows."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from ...accelerators import devices
from ...patching import wrap


def _entering(original: Any) -> Any:
    def __enter__(self: Any) -> Any:
        kind = type(self)
        own = getattr(self, "_mode_key", None) is not None or kind.__module__.startswith("devfix.")
        if not own and not hasattr(kind.__torch_dispatch__, "_devfix_translates"):
            wrap(kind, "__torch_dispatch__", _translate_device)
        return original(self)

    return __enter__


def _translate_device(original: Any) -> Any:
    def __torch_dispatch__(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        device = kwargs.get("device") if kwargs else None
        if isinstance(device, torch.device) and device.type == "lazy":
            kwargs = {**kwargs, "device": devices.outer(device)}
        return original(self, func, types, args, kwargs)

    __torch_dispatch__._devfix_translates = True  # type: ignore[attr-defined]
    return __torch_dispatch__


def install() -> None:
    """Patch what enters a mode."""
    wrap(TorchDispatchMode, "__enter__", _entering)
