"""The kinds of accelerator that a world can have: how PyTorch names each, what it lacks, and how its errors say so.

The simulation asks this table where it would otherwise name CUDA. All kinds share the shells on `lazy:i`; a world has
devices of one kind. Files and functions of PyTorch's sources are named where a fact comes from them.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class DeviceKind:
    """One kind of accelerator.

    `key` is its dispatch key, `model_key` the one whose entries in native_functions.yaml stand for its kernels. Where
    `checks_arguments` is true, generated wrappers compare the devices of the arguments. Tensors of the `absent_dtypes`
    cannot be on it. `backend` is the library of its collectives, `most` the number of devices that a machine can have.
    """

    name: str
    key: str
    model_key: str
    checks_arguments: bool
    most: int
    backend: str = ""
    refuses_forks: bool = True
    has_legacy_types: bool = False
    absent_dtypes: frozenset[torch.dtype] = frozenset()

    @property
    def autocast_key(self) -> str:
        """The dispatch key of autocast."""
        return f"Autocast{self.key}"

    @property
    def module(self) -> str:
        """The module with the functions for it: "torch.cuda"."""
        return f"torch.{self.name}"

    @property
    def is_cuda(self) -> bool:
        """True if it is CUDA, the kind that all the rest of a module is written for."""
        return self.name == "cuda"


def _dtypes(*names: str) -> frozenset[torch.dtype]:
    return frozenset(getattr(torch, name) for name in names if hasattr(torch, name))


CUDA = DeviceKind("cuda", "CUDA", "CUDA", checks_arguments=True, most=64, backend="nccl", has_legacy_types=True)
# `empty_mps` in ATen/mps/EmptyTensor.cpp refuses float64, `getMPSDataType` in ATen/native/mps/OperationUtils.mm what it
# does not list. Wrappers check nothing: `device_guard` in torchgen/gen.py holds for CUDA and XPU.
MPS = DeviceKind(
    "mps",
    "MPS",
    "MPS",
    checks_arguments=False,
    most=1,
    refuses_forks=False,
    absent_dtypes=_dtypes(
        "float64", "complex128", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"
    ),
)
# The kernels are in torch-xpu-ops, whose table the wheel lacks: CUDA's stands for it.
XPU = DeviceKind("xpu", "XPU", "CUDA", checks_arguments=True, most=64, backend="xccl")

KINDS = {kind.name: kind for kind in (CUDA, MPS, XPU)}
_now = [CUDA]


def now() -> DeviceKind:
    """Return the kind of the world's devices."""
    return _now[0]


def use(name: str) -> None:
    """Make a kind that of the world. Raises ValueError for a name that is none."""
    if name not in KINDS:
        raise ValueError(f"{name!r} is not a kind of device: choose one of {', '.join(KINDS)}")
    _now[0] = KINDS[name]
