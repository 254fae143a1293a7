"""`torch.cuda`: devices, availability, properties, synchronization."""

from __future__ import annotations

from typing import Any

import torch
import torch.cuda._utils as utilities

from ... import hooks
from ...accelerators import devices
from ...patching import replace, wrap
from . import deferred, properties

_exchange, _maybe_exchange = devices.exchanging(), devices.exchanging()


def _set(index: int) -> None:
    devices.use()
    try:
        devices.make_current(index)
    except RuntimeError as error:
        hooks.failed(error, "torch.cuda.set_device", (), {})
        raise


def _asking(original: Any) -> Any:
    """Record which GPU a program asks for, also where PyTorch finds that there is none before the driver does."""

    def get_device_properties(device: Any = None) -> Any:
        devices.use()
        index = utilities._get_device_index(device, optional=True)
        devices.exists(index)
        return original(index)

    return get_device_properties


def _utilization(device: Any = None) -> int:
    """Return nothing in use, or raise as PyTorch does without NVIDIA's package (`_get_pynvml_handler`)."""
    if not getattr(torch.cuda, "_HAS_PYNVML", True):
        text = "nvidia-ml-py does not seem to be installed or it can't be imported."
        raise ModuleNotFoundError(text) from torch.cuda._PYNVML_ERR
    return 0


def _answers() -> dict[str, Any]:
    """Return what stands for functions of `torch.cuda`; the others work as they are, above those of the driver."""
    return {
        "is_available": devices.available,
        "device_count": devices.count,
        "_device_count_nvml": devices.count,
        "_exchange_device": _exchange,
        "_maybe_exchange_device": _maybe_exchange,
        "utilization": _utilization,
        "has_magma": True,
    }


def install() -> None:
    """Patch torch.cuda."""
    cuda = torch.cuda
    for name, answer in _answers().items():
        if hasattr(cuda, name):
            replace(cuda, name, answer)
    wrap(cuda, "get_device_properties", _asking)
    properties.install()
    replace(
        cuda, "_get_device_properties", properties.properties, add=True
    )  # CUDA builds have it once they are initialized
    replace(torch._C, "_cuda_setDevice", _set, add=True)
    deferred.install()
    replace(cuda, "_initialized", True, add=True)
