"""`torch.mps` and `torch.backends.mps`: availability, random state, memory and the profiler of a Mac's GPU."""

from __future__ import annotations

from typing import Any

import torch
import torch.backends.mps
import torch.mps.profiler

from ...accelerators import devices, mps_composites, randomness
from ...patching import replace
from . import memory, without_cuda

_MACOS = (15, 0)  # the release that the world claims, from which on `torch.autocast("mps")` takes bfloat16
_MEMORY = 48 << 30


def _is_macos_or_newer(major: int, minor: int = 0) -> bool:
    return (major, minor) <= _MACOS


def _generator() -> Any:
    return randomness.defaults[0]


def _set_state(state: Any, device: Any = "mps") -> None:
    _generator().set_state(state.clone(memory_format=torch.contiguous_format).cpu())


def _synchronize() -> None:
    """Do not wait."""


def _answers() -> dict[str, Any]:
    return {
        "device_count": devices.count,
        "is_available": devices.available,
        "synchronize": _synchronize,
        "empty_cache": _synchronize,
        "get_rng_state": lambda device="mps": _generator().get_state(),
        "set_rng_state": _set_state,
        "manual_seed": lambda seed: _generator().manual_seed(int(seed)) and None,
        "seed": lambda: _generator().seed() and None,
        "set_per_process_memory_fraction": lambda fraction: None,
        "current_allocated_memory": memory.allocated_bytes,
        "driver_allocated_memory": memory.allocated_bytes,
        "recommended_max_memory": lambda: _MEMORY,
        "_get_default_mps_generator": _generator,
    }


def install() -> None:
    """Patch the two modules, and what PyTorch asks its C++ part for."""
    without_cuda.install()
    for name, answer in _answers().items():
        if hasattr(torch.mps, name):
            replace(torch.mps, name, answer)
    backend = torch.backends.mps
    answers: dict[str, Any] = {
        "is_built": lambda: True,
        "is_available": devices.available,
        "is_macos_or_newer": _is_macos_or_newer,
        "is_macos13_or_newer": lambda minor=0: _is_macos_or_newer(13, minor),
        "get_name": lambda: "Simulated GPU",
        "get_core_count": lambda: 10,
    }
    for name, answer in answers.items():
        if hasattr(backend, name):
            replace(backend, name, answer)
    replace(torch._C, "_has_mps", True, add=True)
    replace(torch._C, "_mps_is_available", devices.available, add=True)
    replace(torch._C, "_mps_is_on_macos_or_newer", _is_macos_or_newer, add=True)
    replace(torch._C, "_mps_get_default_generator", _generator, add=True)
    replace(torch._C, "_mps_deviceSynchronize", _synchronize, add=True)
    for name in ("start", "stop"):
        replace(torch.mps.profiler, name, lambda *args, **kwargs: None)
    mps_composites.install()
