"""NCCL in one process (`torch.cuda.nccl`): collectives of tensors on several GPUs, one on each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from ...accelerators import devices
from ...patching import replace

# By the numbers in torch/cuda/nccl.py.
_REDUCTIONS: dict[int, Callable[[Any], Any]] = {
    0: lambda stacked: stacked.sum(0, dtype=stacked.dtype),
    1: lambda stacked: stacked.prod(0, dtype=stacked.dtype),
    2: lambda stacked: stacked.amax(0),
    3: lambda stacked: stacked.amin(0),
    4: lambda stacked: stacked.sum(0, dtype=stacked.dtype) / len(stacked),
}


def _check_inputs(tensors: Sequence[Any]) -> Sequence[Any]:
    """Return the tensors. Raises what `check_inputs` in torch/csrc/cuda/nccl.cpp raises."""
    seen = set()
    for tensor in tensors:
        if not tensor.is_cuda or tensor.is_sparse:
            raise RuntimeError("input and output elements have to be cuda dense Tensors")
        if tensor.dtype is not tensors[0].dtype:
            raise RuntimeError("all inputs and outputs must be of the same Tensor type")
        if not tensor.is_contiguous():
            raise RuntimeError("all inputs must be contiguous")
        if tensor.get_device() in seen:
            raise RuntimeError("inputs must be on unique devices")
        seen.add(tensor.get_device())
    return tensors


def _reduce_inputs(inputs: Sequence[Any], op: int) -> Any:
    return _REDUCTIONS[op](torch.stack([each.detach().cpu() for each in _check_inputs(inputs)]))


def _all_reduce(inputs: Any, outputs: Any, op: int, streams: Any = None, comms: Any = None) -> None:
    result = _reduce_inputs(inputs, op)
    for each in outputs:
        each.copy_(result)


def _reduce(inputs: Any, output: Any, root: int, op: int, streams: Any = None, comms: Any = None) -> None:
    output.copy_(_reduce_inputs(inputs, op))


def _broadcast(inputs: Any, root: int, streams: Any = None, comms: Any = None) -> None:
    for each in _check_inputs(inputs):
        each.copy_(inputs[root])


def _all_gather(inputs: Any, outputs: Any, streams: Any = None, comms: Any = None) -> None:
    result = torch.cat([each.detach().cpu().flatten() for each in _check_inputs(inputs)])
    for each in outputs:
        each.copy_(result.view(each.shape))


def _reduce_scatter(inputs: Any, outputs: Any, op: int, streams: Any = None, comms: Any = None) -> None:
    for part, each in zip(_reduce_inputs(inputs, op).flatten().chunk(len(outputs)), outputs):  # noqa: B905 - as many
        each.copy_(part.view(each.shape))


def _init_rank(ranks: int, identifier: bytes, rank: int) -> object:
    devices.use()
    return object()


def install() -> None:
    """Patch the C functions of NCCL."""
    functions: dict[str, Callable[..., Any]] = {
        "all_reduce": _all_reduce, "reduce": _reduce, "broadcast": _broadcast, "all_gather": _all_gather,
        "reduce_scatter": _reduce_scatter, "init_rank": _init_rank, "unique_id": lambda: bytes(128),
        "version": lambda: (2 << 32) | (21 << 16) | 5, "version_suffix": lambda: b"",
    }  # fmt: skip
    for name, function in functions.items():
        replace(torch._C, f"_nccl_{name}", function, add=True)
