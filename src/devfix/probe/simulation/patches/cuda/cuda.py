"""`torch.cuda`: devices, availability, properties, synchronization."""

from __future__ import annotations

from typing import Any

import torch
import torch.cuda._utils as utilities

from ... import hooks
from ...accelerators import devices
from ...dispatcher import graph_capture
from ...patching import replace
from ..accelerators import random_state
from ..accelerators.random_state import index_of
from .properties import properties

_exchange, _maybe_exchange = devices.exchanging(), devices.exchanging()


def _set_device(device: Any) -> None:
    try:
        if isinstance(device, int) and device < 0:
            return
        devices.make_current(utilities._get_device_index(device))
    except RuntimeError as error:
        hooks.failed(error, "torch.cuda.set_device", (), {})
        raise


def _synchronize(device: Any = None) -> None:
    index_of(device)
    graph_capture.check()


def _accesses_peer(device: Any, peer_device: Any) -> bool:
    one, two = utilities._get_device_index(device, optional=True), utilities._get_device_index(peer_device)
    for index, name in ((one, "device"), (two, "peer device")):
        if not 0 <= index < devices.count():
            raise AssertionError(f"Invalid {name} id")
    return one != two


def _memory(device: Any = None) -> int:
    return 0


def _answers() -> dict[str, Any]:
    count = devices.count
    return {
        "is_available": devices.available,
        "device_count": count,
        "_device_count_nvml": count,
        "current_device": devices.current,
        "set_device": _set_device,
        "_exchange_device": _exchange,
        "_maybe_exchange_device": _maybe_exchange,
        "synchronize": _synchronize,
        "get_device_properties": properties,
        "get_device_name": lambda device=None: properties(device).name,
        "get_device_capability": lambda device=None: (properties(device).major, properties(device).minor),
        "can_device_access_peer": _accesses_peer,
        "is_bf16_supported": lambda including_emulation=True: True,
        "is_tf32_supported": lambda: True,
        "get_arch_list": lambda: ["sm_80"],
        "ipc_collect": lambda: None,
        "utilization": _memory,
        "is_current_stream_capturing": graph_capture.active,
    }


def install() -> None:
    """Patch torch.cuda."""
    cuda = torch.cuda
    for name, answer in _answers().items():
        if hasattr(cuda, name):
            replace(cuda, name, answer)
    random_state.install(cuda)
    replace(cuda, "_initialized", True, add=True)
