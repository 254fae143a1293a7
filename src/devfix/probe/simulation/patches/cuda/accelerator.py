"""`torch.accelerator`: the GPUs under their generic name."""

from __future__ import annotations

from typing import Any

import torch

from ... import devices
from ...patching import replace


def _set_index(device: Any) -> None:
    index = devices.spoken(device if not isinstance(device, int) else int(device))
    devices.make_current(-1 if index is None else index)


def _exchange(index: int) -> int:
    before = devices.current()
    devices.make_current(index)
    return before


def install() -> None:
    """Patch torch.accelerator, if this torch has it."""
    module = getattr(torch, "accelerator", None)
    if module is None:
        return
    answers = {
        "is_available": devices.available,
        "device_count": devices.count,
        "current_accelerator": lambda check_available=False: torch.device("cuda") if devices.count() else None,
        "current_device_index": devices.current,
        "current_device_idx": devices.current,
        "set_device_index": _set_index,
        "set_device_idx": _set_index,
        "synchronize": lambda device=None: None,
        "current_stream": lambda device=None: torch.cuda.current_stream(device),
        "set_stream": lambda stream: torch.cuda.set_stream(stream),
    }
    for name, answer in answers.items():
        if hasattr(module, name):
            replace(module, name, answer)
    for name in ("exchangeDevice", "maybeExchangeDevice"):
        replace(torch._C, f"_accelerator_{name}", _exchange)
    replace(torch._C, "_accelerator_setDeviceIndex", devices.make_current)
    replace(torch._C, "_accelerator_getDeviceIndex", devices.current)
    replace(torch._C, "_accelerator_isAllocatorInitialized", lambda: False)
    replace(torch._C, "_accelerator_setAllocatorSettings", lambda settings: None)
