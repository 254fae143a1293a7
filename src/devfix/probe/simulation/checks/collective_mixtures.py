"""Collectives of tensors on several devices: which backend of the group is chosen, and what that one refuses.

The dispatcher looks at tensors and at lists of them, and not into lists of lists, which the backends compare:
`ProcessGroupNCCL.cpp` and `ProcessGroupGloo.cpp` in torch/csrc/distributed/c10d.
"""

from __future__ import annotations

from typing import Any

from ..accelerators import messages
from ..tensors.tensor import Tensor
from .cuda_refusals import NAMES_IN_CPP

# The places of the tensors that set the type, and of those that are compared with them.
_COMPARED = {"allgather_": (1, 0), "_allgather_base_": (1, 0), "gather_": (1, 0), "scatter_": (0, 1)}
_NAMES = {"_allgather_base_": "allgather"}
_GUARDED = ("_reduce_scatter_base_", "reduce_scatter_")  # the guard of a GPU is set for what is reduced
_DENSE = ("_allgather_base_", "alltoall_base_", "alltoall_", "allreduce_coalesced_")


def first_backend(args: Any) -> list[Any]:
    """Return the tensors by which the dispatcher chooses the backend."""
    return [item for part in args for item in (part if isinstance(part, (list, tuple)) else [part])
            if isinstance(item, Tensor)]  # fmt: skip


def flat(part: Any) -> list[Any]:
    """Return the tensors of an argument, in lists of lists too."""
    if isinstance(part, (list, tuple)):
        return [found for item in part for found in flat(item)]
    return [part] if isinstance(part, Tensor) else []


def refuse_by_nccl(name: str, args: Any, world_size: int) -> None:
    """Raise what NCCL's group does for tensors of which one, at least, is on a GPU."""
    base = name.removeprefix("c10d::")
    if base == "allgather_coalesced_":
        raise NotImplementedError("ProcessGroupNCCL does not support allgather_coalesced")
    devices = [each.device for part in args for each in flat(part)]
    if base == "alltoall_" and len(set(devices)) > 1 and all(device.type != "cpu" for device in devices):
        raise RuntimeError("Tensors must be on the same device")
    if base == "allreduce_coalesced_" and len(set(devices)) > 1 and all(device.type != "cpu" for device in devices):
        raise ValueError("Expected list of tensors on the same device")
    if all(device.type != "cpu" for device in devices):
        return
    if base in ("gather_", "scatter_"):
        _compare(base, args, "NCCL", ValueError)
    if base in _GUARDED and any(each.device.type == "cpu" for each in flat(args[1])):
        raise messages.guard_of_the_host()
    if base in _DENSE:
        raise ValueError("Tensors must be CUDA and dense")
    if world_size > 1:  # one rank copies, and CUDA knows the way from a GPU to the host
        raise messages.cuda_error("an illegal memory access was encountered", "cudaErrorIllegalAddress")


def refuse_by_gloo(name: str, args: Any) -> None:
    """Raise what Gloo's group does for tensors of the host and of a GPU in one call."""
    base = name.removeprefix("c10d::")
    devices = [each.device for part in args for each in flat(part)]
    if len(set(devices)) < 2:
        return
    same_type = len({device.type for device in devices}) == 1
    if base == "alltoall_base_":
        raise RuntimeError("output tensor and input tensor must be on the same type of device")
    if base == "alltoall_":
        same = "input and output tensors must be on the same device"
        raise RuntimeError(
            same if same_type else "ProcessGroupGloo::alltoall: input and output tensors must have the same type"
        )
    if base == "allreduce_coalesced_":
        same = "be on the same device" if same_type else "have the same type"
        raise RuntimeError(f"ProcessGroupGloo::allreduce_coalesced: tensors must all {same}")
    if base == "allgather_coalesced_" and not same_type:
        first, other = (flat(args[place])[0] for place in (1, 0))
        found = f"invalid tensor type at index 0 (expected {first.type()}, got {other.type()})"
        raise RuntimeError(f"ProcessGroupGloo::allgather_coalesced: {found}")
    _compare(base, args, "Gloo", RuntimeError)


def _compare(base: str, args: Any, backend: str, kind: type[Exception]) -> None:
    """Raise what `assertTypeMatch` in c10d/Utils.hpp does: it compares dtypes, layouts and types of devices."""
    first, others = _COMPARED.get(base, (0, 0))
    models = flat(args[first])
    for index, each in enumerate(flat(args[others])):
        if models and each.device.type != models[0].device.type:
            name = _NAMES.get(base, base.strip("_"))
            text = f"invalid tensor type at index {index} (expected {_options(models[0])}, got {_options(each)})"
            raise kind(f"ProcessGroup{backend}::{name}: {text}")


def _options(tensor: Any) -> str:
    """Return the options of a tensor as `operator<<` in c10/core/TensorOptions.cpp writes them."""
    dtype = NAMES_IN_CPP.get(tensor.dtype, str(tensor.dtype).removeprefix("torch."))
    rest = "requires_grad=false (default), pinned_memory=false (default), memory_format=(nullopt)"
    return f"TensorOptions(dtype={dtype}, device={tensor.device}, layout=Strided, {rest})"
