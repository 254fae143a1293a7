"""`torch.xpu`: devices, availability, properties and synchronization of Intel's GPUs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch

from ...accelerators import devices
from ...patching import replace
from ..processes import forks
from . import memory, random_state, stream_classes, without_cuda
from .random_state import index_of

_exchange, _maybe_exchange = devices.exchanging(), devices.exchanging()
# The aspects of a data-center GPU, which has float64: client GPUs lack it, which is not simulated.
_ASPECTS = (
    "has_fp16",
    "has_fp64",
    "has_atomic64",
    "has_bfloat16_conversions",
    "has_subgroup_matrix_multiply_accumulate",
    "has_subgroup_matrix_multiply_accumulate_tensor_float32",
    "has_subgroup_2d_block_io",
)


def _set_device(device: Any) -> None:
    index = device if isinstance(device, int) and not isinstance(device, bool) else index_of(device)
    devices.make_current(index)


def _properties(device: Any = None) -> Any:
    index = index_of(device)
    return SimpleNamespace(
        name="Simulated GPU", platform_name="Simulated platform", vendor="devfix", driver_version="1.0", version="1.0",
        device_id=0, index=index, uuid=f"{index:032x}", total_memory=memory.TOTAL, max_compute_units=512,
        gpu_eu_count=512, gpu_subslice_count=64, max_work_group_size=1024, max_num_sub_groups=64,
        sub_group_sizes=[16, 32], local_mem_size=131072, architecture=0, type="gpu", **dict.fromkeys(_ASPECTS, True),
    )  # fmt: skip


def _capability(device: Any = None) -> dict[str, Any]:
    return dict(vars(_properties(device)))


def _synchronize(device: Any = None) -> None:
    index_of(device)


def _answers() -> dict[str, Any]:
    return {
        "is_available": devices.available,
        "device_count": devices.count,
        "current_device": devices.current,
        "set_device": _set_device,
        "_exchange_device": _exchange,
        "_maybe_exchange_device": _maybe_exchange,
        "synchronize": _synchronize,
        "get_device_properties": _properties,
        "get_device_name": lambda device=None: _properties(device).name,
        "get_device_capability": _capability,
        "can_device_access_peer": lambda device, peer: index_of(device) != index_of(peer),
        "is_bf16_supported": lambda including_emulation=True: True,
        "is_tf32_supported": lambda: True,
        "get_arch_list": lambda: ["pvc"],
        "empty_cache": lambda: None,
        "_is_compiled": lambda: True,
    }


def _parts() -> dict[str, Any]:
    """Return the C functions of builds with XPU that other modules of PyTorch call or import."""
    return {
        "getDeviceCount": devices.count,
        "getDevice": devices.current,
        "setDevice": devices.make_current,
        "exchangeDevice": _exchange,
        "maybeExchangeDevice": _maybe_exchange,
        "init": lambda: None,
        "isInBadFork": devices.forbidden,
        "synchronize": _synchronize,
        "emptyCache": lambda: None,
        "memoryStats": memory.stats,
        "getCurrentRawStream": lambda device: stream_classes.raw_handle(device),
        "getArchFlags": lambda: "pvc",
    }


def install() -> None:
    """Patch torch.xpu."""
    without_cuda.install()
    xpu = torch.xpu
    for name, answer in _answers().items():
        if hasattr(xpu, name):
            replace(xpu, name, answer)
    for name, new in (("_exchange_device", _exchange), ("_maybe_exchange_device", _maybe_exchange)):
        replace(xpu, name, new, add=True)  # only builds with XPU have the names
    for name, answer in _parts().items():
        replace(torch._C, f"_xpu_{name}", answer, add=True)
    random_state.install(xpu)
    forks.install()
    replace(xpu, "_initialized", True, add=True)
    replace(torch._C, "_has_xpu", True, add=True)
