"""The properties of a simulated GPU: those of an A100 with 80 GB."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from uuid import UUID

import torch

from ...accelerators.visible_devices import uuid
from ...patching import replace

_NAME = "Simulated GPU"
_MEGABYTE = 1 << 20


class _CudaDeviceProperties(SimpleNamespace):
    """The figures of a GPU, which a program cannot make or change, printed as by torch/csrc/cuda/Module.cpp."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("torch._C._CudaDeviceProperties: No constructor defined!")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"property of '_CudaDeviceProperties' object has no setter: {name}")

    def __repr__(self) -> str:
        return (
            f"_CudaDeviceProperties(name='{self.name}', major={self.major}, minor={self.minor}, "
            f"total_memory={self.total_memory // _MEGABYTE}MB, multi_processor_count={self.multi_processor_count}, "
            f"uuid={self.uuid}, pci_bus_id={self.pci_bus_id}, pci_device_id={self.pci_device_id}, "
            f"pci_domain_id={self.pci_domain_id}, L2_cache_size={self.L2_cache_size // _MEGABYTE}MB)"
        )


class _CUuuid:
    """The number of a GPU, which prints without the prefix of `nvidia-smi`."""

    def __init__(self, text: str) -> None:
        self._text = text

    @property
    def bytes(self) -> list[int]:
        """Its 16 bytes."""
        return list(UUID(self._text).bytes)

    def __str__(self) -> str:
        return self._text


def properties(index: int) -> Any:
    """Return the properties of a GPU."""
    made = SimpleNamespace.__new__(_CudaDeviceProperties)
    vars(made).update(
        name=_NAME, major=8, minor=0, total_memory=80 << 30, multi_processor_count=108, is_integrated=0,
        is_multi_gpu_board=0, gcnArchName=_NAME, regs_per_multiprocessor=65536, warp_size=32,
        max_threads_per_multi_processor=2048, L2_cache_size=40 << 20, uuid=_CUuuid(uuid(index).removeprefix("GPU-")),
        max_threads_per_block=1024, memory_bus_width=5120, clock_rate=1410000, memory_clock_rate=1593000,
        pci_bus_id=index, pci_device_id=0, pci_domain_id=0,
        shared_memory_per_block=49152, shared_memory_per_block_optin=166912, shared_memory_per_multiprocessor=167936,
    )  # fmt: skip
    return made


def install() -> None:
    """Show the class where CUDA builds have it."""
    replace(torch._C, "_CudaDeviceProperties", _CudaDeviceProperties, add=True)
    replace(torch._C, "_CUuuid", _CUuuid, add=True)


_CudaDeviceProperties.__module__ = _CUuuid.__module__ = "torch._C"
