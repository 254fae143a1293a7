"""Settings of CUDA builds in C, which CPU builds lack: each getter returns what its setter was given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ...accelerators import devices
from ...patching import replace
from ..accelerators import memory
from . import memory_history

_WORKSPACE = (4096 * 2 + 16 * 8) << 10  # bytes, of cuBLAS on a GPU of this generation
# Each setting with its getter, its setter and its value at first, without the underscore before the names.
_PAIRS: tuple[tuple[str, str, Any], ...] = (
    ("cuda_getCublasWorkspaceSize", "cuda_setCublasWorkspaceSize", _WORKSPACE),
    ("cuda_getCublasLtWorkspaceSize", "cuda_setCublasLtWorkspaceSize", _WORKSPACE),
    ("cuda_get_cudnn_benchmark_limit", "cuda_set_cudnn_benchmark_limit", 10),
    ("cuda_get_conv_benchmark_empty_cache", "cudnn_set_conv_benchmark_empty_cache", False),
    ("cuda_cudaCachingAllocator_is_enabled", "cuda_cudaCachingAllocator_enable", True),
    ("cuda_getMemoryMetadata", "cuda_setMemoryMetadata", ""),
    ("cuda_record_untuned_is_enabled", "cuda_record_untuned_enable", False),
    ("cuda_tunableop_is_enabled", "cuda_tunableop_enable", False),
    ("cuda_tunableop_tuning_is_enabled", "cuda_tunableop_tuning_enable", True),
    ("cuda_tunableop_get_max_tuning_duration", "cuda_tunableop_set_max_tuning_duration", 30),
    ("cuda_tunableop_get_max_tuning_iterations", "cuda_tunableop_set_max_tuning_iterations", 100),
    ("cuda_tunableop_get_rotating_buffer_size", "cuda_tunableop_set_rotating_buffer_size", 40),
)
_LIBRARIES = ("linalg", "blas")


class _Kept:
    """The values that the program has set."""

    values: dict[str, Any] = {}  # noqa: RUF012 - one world at a time
    fractions: dict[int, float] = {}  # noqa: RUF012
    file = ""
    allocator: Any = None


class Allocator:
    """An allocator in C: the caching one, or one of the program's."""

    def __init__(self, *functions: int) -> None:
        self.functions = functions


def _getter(name: str) -> Callable[[], Any]:
    return lambda: _Kept.values[name]


def _setter(name: str) -> Callable[[Any], None]:
    return lambda value: _Kept.values.__setitem__(name, value)


def _resetter(name: str, first: Any) -> Callable[[], None]:
    return lambda: _Kept.values.__setitem__(name, first)


def _set_fraction(fraction: float, device: int) -> None:
    gpu = int(device)
    if not devices.exists(gpu):  # c10/cuda/CUDACachingAllocator.cpp, which writes the int8 as a character
        raise RuntimeError(f"Allocator not initialized for device {chr(gpu & 127)}: did you call init?")
    _Kept.fractions[gpu] = float(fraction)
    memory.limit(gpu, float(fraction))


def _get_fraction(device: int) -> float:
    return _Kept.fractions.get(devices.check_index(device), 1.0)


def _set_file(name: str, insert_device_ordinal: bool = False) -> None:
    stem, dot, suffix = name.rpartition(".")
    number = str(devices.current()) if insert_device_ordinal else ""
    _Kept.file = f"{stem}{number}{dot}{suffix}" if dot else f"{name}{number}"


def _change_allocator(allocator: Any) -> None:
    if devices.is_used():
        raise RuntimeError("Can't swap an already initialized allocator")
    _Kept.allocator = allocator


def _refuse_source(*args: Any, **kwargs: Any) -> Any:
    raise NotImplementedError("a simulated GPU does not run the source code of CUDA kernels")


def _answers() -> dict[str, Callable[..., Any]]:
    return {
        "cuda_setMemoryFraction": _set_fraction,
        "cuda_getMemoryFraction": _get_fraction,
        "cuda_record_memory_history": memory_history.record,
        "cuda_record_memory_history_legacy": memory_history.record_by_flag,
        "cuda_isHistoryEnabled": memory_history.is_enabled,
        "cuda_tunableop_set_filename": _set_file,
        "cuda_tunableop_get_filename": lambda: _Kept.file,
        "cuda_tunableop_get_results": lambda: (),
        "cuda_tunableop_get_validators": lambda: (("PT_VERSION", torch.__version__.partition("+")[0]),),
        "cuda_tunableop_read_file": lambda name="": False,
        "cuda_tunableop_write_file": lambda name="": True,
        "cuda_tunableop_write_file_on_exit": lambda value: None,
        "cuda_tunableop_set_numerical_check_tolerances": lambda enable, atol=0.0, rtol=0.0: None,
        "cuda_getAllocator": lambda: _Kept.allocator or Allocator(),
        "cuda_customAllocator": Allocator,
        "cuda_cudaHostAllocator": Allocator,
        "cuda_changeCurrentAllocator": _change_allocator,
        "cuda_getAllocatorBackend": lambda: "native" if _Kept.allocator is None else "pluggable",
        "cuda_exchangeDevice": devices.exchanging(),
        "cuda_maybeExchangeDevice": devices.exchanging(),
        "cuda_isInBadFork": devices.forbidden,
        "cuda_getCompiledVersion": lambda: 12080,
        "cuda_checkPoolLiveAllocations": lambda *args: True,
        "cuda_getCheckpointState": lambda *args: Allocator(),
        "cuda_setCheckpointPoolState": lambda *args: None,
        "host_emptyCache": lambda: None,
        "cuda_jiterator_compile_and_launch_kernel": _refuse_source,
        "cuda_load_module": _refuse_source,
        "cuda_resetCublasWorkspaceSize": _resetter("cuda_getCublasWorkspaceSize", _WORKSPACE),
        "cuda_resetCublasLtWorkspaceSize": _resetter("cuda_getCublasLtWorkspaceSize", _WORKSPACE),
    }


def install() -> None:
    """Patch the settings; a new world has those of a new process."""
    _Kept.values = {getter: first for getter, _, first in _PAIRS}
    _Kept.fractions, _Kept.file, _Kept.allocator = {}, "", None
    memory_history.install()
    functions = _answers()
    for getter, setter, _ in _PAIRS:
        functions |= {getter: _getter(getter), setter: _setter(getter)}
    if torch.version.cuda is None or not hasattr(torch._C, "_cuda_init"):
        for library in _LIBRARIES:
            getter = f"get_{library}_preferred_backend"
            _Kept.values[getter] = getattr(torch._C, f"_{getter}")()
            functions |= {getter: _getter(getter), f"set_{library}_preferred_backend": _setter(getter)}
    for name, function in functions.items():
        replace(torch._C, f"_{name}", function, add=True)
