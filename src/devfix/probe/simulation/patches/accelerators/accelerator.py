"""`torch.accelerator`: the GPUs under their generic name."""

from __future__ import annotations

from typing import Any

import torch

from ...accelerators import captures, devices, kinds
from ...patching import replace, wrap
from . import stream_classes, streams

_exchange = devices.exchanging()


def _set_index(device: Any) -> None:
    devices.make_current(_index_of(device))


def _wait(device: Any = None) -> None:
    index = devices.index_named(_index_of(device))
    captures.wait_for_device(devices.current() if index is None else index)


def _index_of(device: Any) -> int:
    """Return the index of a device as PyTorch's functions of accelerators do, which refuse other kinds of devices."""
    from torch.accelerator._utils import _get_device_index  # which not every release has

    return int(_get_device_index(device, optional=True))


def _module(original: Any) -> Any:
    def get_device_module(device: Any = None) -> Any:
        return getattr(torch, kinds.now().name) if device is None else original(device)

    return get_device_module


def install() -> None:
    """Patch torch.accelerator, if this torch has it."""
    name = kinds.now().name
    wrap(torch, "get_device_module", _module)
    replace(torch._C, "_get_accelerator", lambda check=None: torch.device(name))
    module = getattr(torch, "accelerator", None)
    if module is None:
        return
    answers = {
        "is_available": devices.available,
        "device_count": devices.count,
        "current_accelerator": lambda check_available=False: torch.device(name) if devices.count() else None,
        "current_device_index": devices.current,
        "current_device_idx": devices.current,
        "set_device_index": _set_index,
        "set_device_idx": _set_index,
        "synchronize": _wait,
        # Not the functions themselves: Dynamo stores one rule for each, and they are those of torch.cuda.
        "current_stream": lambda device=None: stream_classes.current_stream(_index_of(device)),
        "set_stream": lambda stream: streams.set_stream(stream),
    }
    for function, answer in answers.items():
        if hasattr(module, function):
            replace(module, function, answer)
    for function in ("exchangeDevice", "maybeExchangeDevice"):
        replace(torch._C, f"_accelerator_{function}", _exchange)
    replace(torch._C, "_accelerator_synchronizeDevice", _wait, add=True)
    replace(torch._C, "_accelerator_setDeviceIndex", devices.make_current)
    replace(torch._C, "_accelerator_getDeviceIndex", devices.current)
    replace(torch._C, "_accelerator_isAllocatorInitialized", lambda: False)
    replace(torch._C, "_accelerator_getAccelerator", lambda: torch.device(name))
    replace(torch._C, "_accelerator_setAllocatorSettings", lambda settings: None)
