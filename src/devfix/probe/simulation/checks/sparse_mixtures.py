"""Sparse tensors with tensors on other devices: what CUDA's kernels for them check by hand, since no wrapper does.

Each check is read from ATen/native/sparse/cuda: SparseCUDATensorMath.cu of the coordinate layout,
SparseCsrTensorMath.cu and SparseBlasImpl.cpp of the compressed ones. The texts are those of the CUDA library of 2.13.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ..accelerators import messages
from ..tensors.tensor import Tensor

_COMPRESSED = "SparseCsrCUDA"
_ADDING = ("add", "add_", "sub", "sub_")
_MULTIPLYING = ("mul", "mul_")


def decide(base: str, key: str, given: dict[str, Any]) -> bool:
    """Raise what the kernel of an operator raises under a dispatch key of sparse tensors; return whether it runs.

    If it neither raises nor is known to run, the checks of other operators decide.
    """
    by_name = _OF_COMPRESSED if key == _COMPRESSED else _OF_COORDINATES
    found = by_name.get(base)
    if found is not None and (base.startswith("addmv") or isinstance(given.get("other"), Tensor)):
        found(given)
        return found is _adding_compressed and not (_is_dense(given["self"]) or _is_dense(given["other"]))
    return False


def _adding(given: dict[str, Any]) -> None:
    one, other = given["self"], given["other"]
    if not _is_dense(other):
        kind, place = ("a CUDA tensor", "a {} tensor") if _is_dense(one) else ("CUDA", "{}")
        for name, tensor in (("self", one), ("other", other)):
            if tensor._devfix_gpu < 0:
                raise RuntimeError(f"add: expected '{name}' to be {kind}, but got {place.format('CPU')}")
        raise _unequal("sparse, r_, dense" if _is_dense(one) else "r_, t, src")
    if not _is_dense(one):
        raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")


def _multiplying(given: dict[str, Any]) -> None:
    one, other = given["self"], given["other"]
    if (one if _is_dense(other) else other).dim() and (_is_dense(one) or _is_dense(other)):
        sparse, dense = (other, one) if _is_dense(one) else (one, other)
        if sparse._devfix_gpu >= 0 and dense.dim():
            text = "indices should be either on cpu or on the same device as the indexed tensor"
            raise RuntimeError(f"{text} ({dense.device})")
    _expect_products(one, other)


def _expect_products(one: Any, other: Any) -> None:
    if (other if _is_dense(one) else one)._devfix_gpu < 0:
        raise RuntimeError("mul: expected 'out' to be CUDA, but got CPU")
    if other._devfix_gpu < 0 and (other.dim() or not _is_dense(other)):
        raise RuntimeError("mul: expected 'other' to be CUDA, but got CPU")
    if not _is_dense(one) and not _is_dense(other):
        raise _unequal("r_, t_, src_")


def _dividing(given: dict[str, Any]) -> None:
    if given["other"].dim():
        shape = list(given["other"].shape)
        text = f"Sparse division requires a scalar or zero-dim dense tensor divisor (got shape {shape} for divisor)"
        raise RuntimeError(text)


def _adding_compressed(given: dict[str, Any]) -> None:
    one, other = given["self"], given["other"]
    if _is_dense(one) or _is_dense(other):
        dense, sparse = (one, other) if _is_dense(one) else (other, one)
        if sparse._devfix_gpu < 0:
            raise RuntimeError("add: expected 'other' to be a CUDA tensor, but got tensor on device: cpu")
        if dense._devfix_gpu < 0:
            raise RuntimeError("dense.is_cuda() INTERNAL ASSERT FAILED")
        return
    for name, tensor in (("self", one), ("other", other)):
        if tensor._devfix_gpu < 0:
            raise RuntimeError(f"add: expected '{name}' to be CUDA tensor, but got tensor on device: cpu")


def _multiplying_compressed(given: dict[str, Any]) -> None:
    one, other = given["self"], given["other"]
    if _is_dense(one) or _is_dense(other):
        dense, sparse = (one, other) if _is_dense(one) else (other, one)
        if dense.dim():
            raise messages.argument_mismatch("mask", sparse.device, dense.device, f"wrapper_{_COMPRESSED}__sparse_mask")
    _expect_products(one, other)


def _adding_vectors(given: dict[str, Any]) -> None:
    """The structured kernel has made its output beside the vector before the wrapper compares."""
    home = given["vec"].device
    for name in ("self", "mat"):
        if given[name].device != home:
            raise messages.argument_mismatch(name, given[name].device, home, f"wrapper_{_COMPRESSED}_out_addmv_out")


def _unequal(tensors: str) -> RuntimeError:
    return messages.check_failed(f"cuda::check_device({{{tensors}}})")


def _is_dense(tensor: Any) -> bool:
    return tensor.layout is torch.strided


_Check = Callable[[dict[str, Any]], None]
_OF_COORDINATES: dict[str, _Check] = {
    **dict.fromkeys(_ADDING, _adding),
    **dict.fromkeys(_MULTIPLYING, _multiplying),
    **dict.fromkeys(("div", "div_"), _dividing),
}
_OF_COMPRESSED: dict[str, _Check] = {
    **dict.fromkeys(_ADDING, _adding_compressed),
    **dict.fromkeys(_MULTIPLYING, _multiplying_compressed),
    "addmv": _adding_vectors,
}
