"""Determine which operators let the host wait for a GPU, and with which arguments."""

from __future__ import annotations

import enum
from typing import Any

import torch

from ..accelerators import messages
from ..tensors.tensor import Tensor

CHECKS_LATER = messages.VERSION >= (2, 13)  # whose library checks the values to draw from by `_assert_async`
_MASKS = (torch.bool, torch.uint8)


class Need(enum.IntEnum):
    """The effect of a call: none, the host waits, or a copy to or from memory of the host that is not pinned.

    An untimed copy does not wait, and an untimed wait is one of a library: `set_sync_debug_mode` reports neither, but a
    capture does not take them.
    """

    NOTHING = 0
    WAIT = 1
    COPY = 2
    UNTIMED_COPY = 3
    UNTIMED_WAIT = 4


def _on_gpu(item: Any) -> bool:
    return isinstance(item, Tensor) and item._devfix_gpu >= 0


def _on_host(item: Any) -> bool:
    """Return whether an operator on a GPU would have to copy a tensor there."""
    return isinstance(item, Tensor) and item._devfix_gpu < 0 and item.numel() > 0


def _always(args: Any, kwargs: Any) -> Need:
    return Need.WAIT


def _copies(args: Any, kwargs: Any) -> Need:
    return Need.COPY


def _if_any(args: Any, kwargs: Any) -> Need:
    return Need.WAIT if args[0].numel() else Need.NOTHING


def _copies_if_any(args: Any, kwargs: Any) -> Need:
    return Need.COPY if args[0].numel() else Need.NOTHING


def _multinomial(args: Any, kwargs: Any) -> Need:
    """Check the values if none is drawn twice (native/Distributions.cpp)."""
    return (
        Need.NOTHING if CHECKS_LATER or (args[2] if len(args) > 2 else kwargs.get("replacement", False)) else Need.WAIT
    )


def _equal(args: Any, kwargs: Any) -> Need:
    """Compare nothing with itself: `cuda_equal` in cuda/Equal.cpp."""
    return Need.NOTHING if args[0] is args[1] else Need.WAIT


def _histc(args: Any, kwargs: Any) -> Need:
    """Read the least and the greatest element where no range is given (cuda/SummaryOps.cu)."""
    least, most = kwargs.get("min", [*args[2:3], 0][0]), kwargs.get("max", [*args[3:4], 0][0])
    return Need.WAIT if least == most else Need.NOTHING


def _repeat(args: Any, kwargs: Any) -> Need:
    return Need.NOTHING if kwargs.get("output_size") is not None else Need.WAIT


def _normal(args: Any, kwargs: Any) -> Need:
    """Read whether a deviation is negative (`normal_impl_` in native/DistributionTemplates.h)."""
    return Need.WAIT if len(args) > 1 and isinstance(args[1], Tensor) and args[1].numel() else Need.NOTHING


def _others(args: Any, kwargs: Any) -> Need:
    """Copy the other operands of the host to the GPU."""
    return Need.COPY if any(map(_on_host, args[1:])) else Need.NOTHING


def _from_dense(args: Any, kwargs: Any) -> Need:
    """Count the elements that are not zero."""
    return Need.WAIT if args[0].layout is torch.strided else Need.NOTHING


def _coalesce(args: Any, kwargs: Any) -> Need:
    return Need.UNTIMED_WAIT if args[0]._devfix_held._nnz() > 1 else Need.NOTHING


def _index(args: Any, kwargs: Any) -> Need:
    """Read how many indices a mask becomes (`nonzero`), and copy what is on the host."""
    given = [item for item in args[1] if isinstance(item, Tensor)] if len(args) > 1 else []
    masks = [item for item in given if item.dtype in _MASKS]
    value = args[2] if len(args) > 2 else None
    if value is not None and len(masks) == len(given) and value.numel() == 1 and not value.dim():
        return Need.COPY if any(map(_on_host, masks)) else Need.NOTHING  # `masked_fill`
    # Since 2.13 the indices of a mask on the host are copied without waiting.
    if any(_on_host(item) and not (CHECKS_LATER and item.dtype in _MASKS) for item in (*given, value)):
        return Need.COPY
    return Need.WAIT if any(map(_on_gpu, masks)) else Need.NOTHING


def _to_copy(args: Any, kwargs: Any) -> Need:
    device = kwargs.get("device")
    is_there = _on_gpu(args[0])
    if device is None or is_there == (torch.device(device).type not in ("cpu", "meta")):
        return Need.NOTHING
    is_pinned = kwargs.get("pin_memory") or kwargs.get("non_blocking") if is_there else args[0].is_pinned()
    return _crossing(args[0], bool(is_pinned), bool(kwargs.get("non_blocking")))


def _copy(args: Any, kwargs: Any) -> Need:
    if _on_gpu(args[0]) == _on_gpu(args[1]):
        return Need.NOTHING
    is_pinned = args[1 if _on_gpu(args[0]) else 0].is_pinned()
    return _crossing(args[0], is_pinned, bool(kwargs.get("non_blocking", args[2] if len(args) > 2 else False)))


def _crossing(tensor: Any, is_pinned: bool, goes_on: bool) -> Need:
    """Return what a copy between a GPU and the host does (`copy_kernel_cuda` in native/cuda/Copy.cu)."""
    if not tensor.numel():
        return Need.NOTHING
    if is_pinned:
        return Need.NOTHING if goes_on else Need.WAIT
    return Need.UNTIMED_COPY if goes_on else Need.COPY


# Operators whose results or copies the host waits for.
_READING = ("_local_scalar_dense", "nonzero", "masked_select", "_unique2", "unique_dim", "unique_consecutive",
            "is_nonzero", "_linalg_check_errors", "allclose")  # fmt: skip
_LIBRARIES = ("_linalg_eigh", "linalg_eig", "linalg_eigvals", "cholesky", "linalg_lstsq")  # read an error's number
_SPARSE = ("_to_sparse", "_to_sparse_csr", "_to_sparse_csc", "_to_sparse_bsr", "_to_sparse_bsc")
WAITING = {
    **dict.fromkeys(_READING, _always),
    **dict.fromkeys(_LIBRARIES, _if_any),
    **dict.fromkeys(("_linalg_svd", "linalg_pinv", "linalg_matrix_exp"), _copies_if_any),
    **dict.fromkeys(_SPARSE, _from_dense),
    **dict.fromkeys(("index", "index_put_", "index_put", "_index_put_impl_"), _index),
    **dict.fromkeys(("where", "bernoulli_"), _others),
    "bincount": _copies, "multinomial": _multinomial, "equal": _equal, "histc": _histc, "repeat_interleave": _repeat,
    "normal": _normal, "_coalesce": _coalesce, "_to_copy": _to_copy, "copy_": _copy,
}  # fmt: skip


_quiet: list[bool] = []


class Quiet:
    """A part of the simulation's own work, which CUDA does not do: it waits for nothing."""

    def __enter__(self) -> None:
        _quiet.append(True)

    def __exit__(self, *error: object) -> None:
        _quiet.pop()


def need_of(func: Any, args: Any, kwargs: Any) -> Need:
    """Return what an operator does that the host may wait for."""
    name = func._schema.name.split("::")[-1]
    tensors = [item for item in args if isinstance(item, Tensor)]
    is_there = any(item._devfix_gpu >= 0 for item in tensors) or kwargs.get("device") is not None
    return WAITING[name](args, kwargs) if is_there and not _quiet else Need.NOTHING
