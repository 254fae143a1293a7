"""Operators whose CUDA kernels check devices by hand, after (or instead of) the generated check.

Each check gets the operator's name and its arguments by name; it raises, or returns so that the operator runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ..accelerators import kinds, messages

CHECKS: dict[str, Callable[[str, dict[str, Any]], None]] = {}


def check(*names: str) -> Callable[[Callable[[str, dict[str, Any]], None]], Callable[[str, dict[str, Any]], None]]:
    """Register the check of the operators with these base names, or of one overload ("aten::max.unary_out")."""

    def register(function: Callable[[str, dict[str, Any]], None]) -> Callable[[str, dict[str, Any]], None]:
        for name in names:
            CHECKS[name] = function
        return function

    return register


@check("_local_scalar_dense", "is_set_to", "is_same_size", "resize_as_", "copy", "_has_same_storage_numel")
def anything(name: str, given: dict[str, Any]) -> None:
    """Accept tensors on any devices."""


@check("index", "_unsafe_index", "index_put_", "index_put", "_unsafe_index_put", "_index_put_impl_")
def indexing(name: str, given: dict[str, Any]) -> None:
    """Indices may be on the CPU; to be read, a GPU's must be on that of the indexed tensor.

    Where elements are written, `make_info` in ATen/native/IndexingUtils.h moves the indices to the tensor's device.
    """
    self = given["self"]
    for index in () if "put" in name and kinds.now().is_cuda else given.get("indices") or ():
        if index is not None and index._devfix_gpu >= 0 and index._devfix_gpu != self._devfix_gpu:
            raise RuntimeError(
                f"indices should be either on cpu or on the same device as the indexed tensor ({self.device})"
            )
    values = given.get("values")
    if values is not None and values.device != self.device and values.dim():
        if given.get("accumulate") and self._devfix_gpu >= 0 and kinds.now().is_cuda:  # cuda/Indexing.cu
            raise RuntimeError(f"expected device {self.device} but got device {values.device} for value tensor")
        raise messages.two_devices(*sorted((self.device, values.device), key=lambda device: device.type == "cpu"))


@check("masked_fill_")
def masked_filling(name: str, given: dict[str, Any]) -> None:
    """The mask must be on the tensor's device; a 0-dim value may be on the CPU."""
    self, mask, value = given["self"], given["mask"], given["value"]
    if isinstance(value, torch.Tensor) and self._devfix_gpu < 0:
        raise RuntimeError("masked_fill_: Expected inputs to be on same device")
    if self.device != mask.device:
        text = f"but got mask on {mask.device} and self on {self.device}"
        raise RuntimeError(f"expected self and mask to be on the same device, {text}")


@check("fill_")
def filling(name: str, given: dict[str, Any]) -> None:
    """A 0-dim value may be on any device."""


@check("aten::index_fill.int_Tensor", "aten::index_fill_.int_Tensor")
def filling_indices(name: str, given: dict[str, Any]) -> None:
    """The number in a 0-dim value is read, wherever it lies; the iterator compares the index."""
    places = (given["self"].device, given["index"].device)
    if places[0] != places[1]:
        raise messages.two_devices(*sorted(places, key=lambda device: device.type == "cpu"))


@check("aten::max.unary_out", "aten::min.unary_out")
def reducing(name: str, given: dict[str, Any]) -> None:
    """`max_all_kernel` is called by `max_unary_out` in ATen/native/ReduceAllOps.cpp, which compares by hand."""
    raise messages.check_failed("self.device() == out.device()")


def check_scalar_of_list(func: Any, given: dict[str, Any]) -> None:
    """Raise what operators on lists do for a number on another device than the first tensor (ForeachOpsKernels.cpp).

    One of the host may meet tensors on a GPU, and tensors on several devices meet it one by one.
    """
    name, scalar = func._schema.name, given.get("other")
    if func._schema.overload_name != "Tensor" or "add" in name or scalar is None or scalar.dim():
        return
    home = given["self"][0].device if given["self"] else scalar.device
    if any(each.device != home for each in given["self"]):
        return
    if scalar.device != home and scalar._devfix_gpu >= 0:
        needs = "is expected" if name.endswith("_") else "expected"
        raise RuntimeError(f"scalar tensor {needs} to be on {home} but is on {scalar.device}")


@check("mode")
def choosing(name: str, given: dict[str, Any]) -> None:
    """`mode_out` in ATen/native/Sorting.cpp compares each output with the input."""
    home = given["self"].device
    for which in ("values", "indices"):
        if (found := given[which].device) != home:
            raise RuntimeError(f"expected device '{home}' but got '{found}' for {which} output")


@check("bernoulli", "bernoulli_")
def drawing(name: str, given: dict[str, Any]) -> None:
    """Probabilities are moved to the device (`bernoulli_kernel` in ATen/native/cuda/DistributionTemplates.h)."""


@check("segment_reduce")
def reducing_segments(name: str, given: dict[str, Any]) -> None:
    """`segment_reduce_kernel` in ATen/native/SegmentReduce.cpp compares data with what says where segments end."""
    which = next(each for each in ("offsets", "lengths") if given.get(each) is not None)
    if given[which].device != given["data"].device:
        raise messages.check_failed(f"data.get_device() == {which}_value.get_device()")


@check("searchsorted", "bucketize")
def searching(name: str, given: dict[str, Any]) -> None:
    """The sorter must be on the device of the boundaries; the generated check skips keyword arguments."""
    sorter, boundaries = given.get("sorter"), given.get("sorted_sequence")
    if sorter is not None and boundaries is not None and sorter.device != boundaries.device:
        text = "torch.searchsorted(): sorter and boundary tensors should have same device type, but got sorter tensor"
        raise RuntimeError(f"{text} device type {sorter.device} and input value tensor device type {boundaries.device}")
