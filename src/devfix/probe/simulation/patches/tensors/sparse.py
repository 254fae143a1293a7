"""Sparse tensors, and compressed ones: C++ queries the layout of their shells, which is strided."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import torch

from ... import hooks
from ...accelerators import devices, kinds, messages
from ...dispatcher import waits
from ...patching import wrap
from ...tensors.tensor import Tensor

_aten = torch.ops.aten


def _is_compressed(tensor: Any) -> bool:
    return tensor._devfix_gpu >= 0 and tensor._devfix_held.layout not in (torch.strided, torch.sparse_coo)


def _to_dense(original: Any) -> Any:
    def to_dense(self: Any, dtype: Any = None, *, masked_grad: Any = None) -> Any:
        if not _is_compressed(self):
            return original(self, dtype, masked_grad=masked_grad)
        return _aten._to_dense(self, dtype, masked_grad)

    return to_dense


def _multiply(original: Any) -> Any:
    def mm(mat1: Any, mat2: Any, *args: Any, **kwargs: Any) -> Any:
        if args or kwargs or not _is_compressed(mat1) or mat2.layout is not torch.strided:
            return original(mat1, mat2, *args, **kwargs)
        zeros = torch.zeros((mat1.shape[0], mat2.shape[-1]), dtype=mat1.dtype, device=mat2.device)
        return _aten._sparse_addmm(zeros, mat1, mat2, beta=0, alpha=1)

    return mm


def _build_on_host(original: Any) -> Any:
    """Let sparse constructors create on the CPU and move the result to the device of the values, or to `device`."""

    def call(*args: Any, device: Any = None, **kwargs: Any) -> Any:
        parts = [item for item in args if isinstance(item, Tensor)]
        parts += [item for item in kwargs.values() if isinstance(item, Tensor)]
        if device is None:
            _check_places(original.__name__, args, kwargs)
        gpu = next((item._devfix_gpu for item in reversed(parts) if item._devfix_gpu >= 0), None)
        index = gpu if device is None else devices.index_named(device)
        if index is None:
            return original(*args, device=device, **kwargs)
        grad = kwargs.pop("requires_grad", False)
        keywords = {name: _on_host(item) for name, item in kwargs.items()}
        with waits.Quiet() if _keeps(original.__name__, parts, args, kwargs) else nullcontext():
            made = original(*map(_on_host, args), device="cpu", **keywords).to(devices.LAZY[index])
        return made.requires_grad_() if grad else made

    return call


def _keeps(name: str, parts: Any, args: Any, kwargs: Any) -> bool:
    """Return whether CUDA makes a sparse tensor of parts as they are, without reading or moving them."""
    is_checked = kwargs.get("check_invariants")
    if is_checked is None:
        is_checked = torch.sparse.check_sparse_tensor_invariants.is_enabled()
    has_size = len(args) > 2 or "size" in kwargs
    is_there = len(parts) == 2 and all(part._devfix_gpu >= 0 for part in parts)
    return name == "sparse_coo_tensor" and is_there and has_size and not is_checked


def _check_on_host(original: Any) -> Any:
    """Let checks of the parts of a sparse tensor, which `torch.load` makes from 2.15 on, read them on the host."""

    def validate(*args: Any, **kwargs: Any) -> Any:
        return original(*map(_on_host, args), **{name: _on_host(item) for name, item in kwargs.items()})

    return validate


def _on_host(item: Any) -> Any:
    return item.cpu() if isinstance(item, Tensor) else item


def _check_places(name: str, args: Any, kwargs: Any) -> None:
    """Raise what ATen's sparse tensors raise for indices on another device than the values.

    SparseCsrTensorImpl.cpp for those that are not COO. A list of indices is put beside the values; a list of values is
    on the default device.
    """
    layout = kwargs.get("layout")
    by_column = "_csc_" in name or "_bsc_" in name or layout in (torch.sparse_csc, torch.sparse_bsc)
    indices = ("ccol_indices", "row_indices") if by_column else ("crow_indices", "col_indices")
    names = ("indices", "values") if name == "sparse_coo_tensor" else (*indices, "values")
    given = {**dict(zip(names, args, strict=False)), **{each: kwargs[each] for each in names if each in kwargs}}
    values = given.pop("values", None)
    home = values.device if isinstance(values, Tensor) else torch.empty(0).device
    apart = {each: item for each, item in given.items() if isinstance(item, Tensor) and item.device != home}
    if values is None or isinstance(values, (torch.Size, tuple)) or not apart:
        return
    which, item = next(iter(apart.items()))
    if name == "sparse_coo_tensor":
        # The wrapper for SparseCUDA checks first (pytorch/pytorch#89402). It runs for indices or values on a GPU.
        method = f"wrapper_Sparse{kinds.now().key}___sparse_coo_tensor_with_dims_and_tensors"
        error = messages.argument_mismatch("values", home, item.device, method)
    else:
        error = RuntimeError(f"Values and {which} need to be on the same device.")
    hooks.failed(error, f"torch.{name}", [*given.values(), values], {})
    raise error


def _same_layout(layout: torch.layout) -> Any:
    """Return a tensor that has the layout unchanged: C++ queries the shell, which is strided."""

    def make(original: Any) -> Any:
        def convert(self: Any, *args: Any, **kwargs: Any) -> Any:
            return self if self.layout is layout else original(self, *args, **kwargs)

        return convert

    return make


def _weighing(original: Any) -> Any:
    """Refuse what `softmax` in ATen/native/sparse/SoftMax.cpp hands to CUDA's kernel in place of a copy in float32."""
    name = original.__name__.removeprefix("_sparse_")

    def weigh(input: Any, dim: Any, *rest: Any, dtype: Any = None, **kwargs: Any) -> Any:
        halves = isinstance(input, Tensor) and input._devfix_gpu >= 0 and input.dtype is torch.float16
        if halves and dtype is torch.float32 and kinds.now().is_cuda:
            error = RuntimeError(f"{name}: with half to float conversion is not supported on {input.device}")
            hooks.failed(error, f"torch.sparse.{name}", (input,), {})
            raise error
        return original(input, dim, *rest, dtype=dtype, **kwargs)

    return weigh


def install() -> None:
    """Patch queries of the layout of compressed tensors, and constructors."""
    wrap(Tensor, "to_dense", _to_dense)
    wrap(torch.sparse, "mm", _multiply)
    wrap(torch, "_sparse_mm", _multiply)
    for name in ("softmax", "log_softmax"):
        wrap(torch.sparse, name, _weighing)
    for name in ("csr", "csc"):
        wrap(Tensor, f"to_sparse_{name}", _same_layout(getattr(torch, f"sparse_{name}")))
    names = ("coo", "csr", "csc", "bsr", "bsc", "compressed")
    for name in names:
        wrap(torch, f"sparse_{name}_tensor", _build_on_host)
        wrap(torch, f"_validate_sparse_{name}_tensor_args", _check_on_host)
