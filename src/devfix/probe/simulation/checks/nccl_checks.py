"""Checks of NCCL on tensors of a GPU, which Gloo takes: `ProcessGroupNCCL.cpp` in torch/csrc/distributed/c10d."""

from __future__ import annotations

import threading
from typing import Any

import torch

from ..operator_tables.dtypes import SCALARS
from ..tensors.tensor import Tensor

_DTYPES = {
    torch.int8, torch.uint8, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64,
    torch.bool, torch.complex64, torch.complex128,
    *(getattr(torch, name) for name in dir(torch) if name.startswith("float8_")),
}  # fmt: skip
_POINT_TO_POINT = ("send", "recv_", "recv_any_source_")
_REDUCING = ("allreduce_", "reduce_", "reduce_scatter_", "_reduce_scatter_base_", "allreduce_coalesced_")
_OPERATIONS = ("BAND", "BOR", "BXOR")
_FORMATS = {4: torch.channels_last, 5: torch.channels_last_3d}


def check(name: str, args: Any, world_size: int) -> None:
    """Raise NCCL's error for a collective that it refuses."""
    base = name.removeprefix("c10d::")
    tensors = [item for part in args for item in (part if isinstance(part, (list, tuple)) else [part])]
    tensors = [item for item in tensors if isinstance(item, Tensor) and item._devfix_gpu >= 0]
    if base == "allreduce_" and any(tensor.is_sparse for tensor in tensors):
        raise RuntimeError("NCCL does not support all_reduce with sparse tensors. Please use dense tensors instead.")
    for tensor in tensors:
        if tensor.layout is not torch.strided:
            raise ValueError("Tensors must be CUDA and dense")
        if base not in _POINT_TO_POINT and not _is_contiguous(tensor):
            raise ValueError("Tensors must be contiguous")
    if base in ("_allgather_base_", "_reduce_scatter_base_") and len(tensors) > 1:
        _check_whole(base, tensors[0], tensors[1], world_size)
    for tensor in tensors:
        if tensor.dtype not in _DTYPES:
            kind = SCALARS.get(tensor.dtype, str(tensor.dtype))
            raise TypeError(f"Input tensor data type is not supported for NCCL process group: {kind}")
    if base in _REDUCING and tensors:
        _check_operation(tensors[0])


def _is_contiguous(tensor: Any) -> bool:
    """Return whether a tensor is contiguous in the order in memory that it suggests."""
    suggested = _FORMATS.get(tensor.dim())
    return bool(tensor.is_contiguous() or (suggested and tensor.is_contiguous(memory_format=suggested)))


def _check_whole(base: str, output: Any, source: Any, world_size: int) -> None:
    gathers = base == "_allgather_base_"
    if output.dtype is not source.dtype:
        text = "output tensor must have the same type as input tensor"
        raise TypeError(text if gathers else "input tensor must be the same type as the output tensor.")
    if gathers and source.numel() * world_size != output.numel():
        raise ValueError("output tensor size must be equal to world_size times input tensor size")
    if not gathers and source.numel() != output.numel() * world_size:
        raise ValueError("input tensor must be the same size as output size times world size")


def _check_operation(tensor: Any) -> None:
    if asked.operation in _OPERATIONS:
        raise ValueError(f"Cannot use ReduceOp.{asked.operation} with NCCL")
    if asked.operation == "AVG" and tensor.dtype is torch.bool:
        raise TypeError("Cannot use ReduceOp.AVG with boolean inputs")


class _Asked(threading.local):
    operation = ""  # of the reduction that the thread is in: the object that the operator is given does not tell it


asked = _Asked()
