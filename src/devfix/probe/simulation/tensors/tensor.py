"""The simulated tensor: an ordinary `torch.Tensor` object whose C++ side is an empty shell on `lazy:i`.

The shell holds the real CPU tensor in `_devfix_held` and its GPU's index in `_devfix_gpu` (-1 for all other tensors).
The object's class is `torch.Tensor` itself (or `Parameter`, or the user's subclass): in Python a shell is created as a
subclass, which PyTorch requires, and gets the plain class afterwards; compiled code (`native/shells.h`) gives it the
plain class at once. So `type(x) is torch.Tensor` is true, and C++ finds no `__torch_function__` to call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn.parameter import is_lazy

from .. import modes
from ..accelerators import kinds, mps_composites
from ..accelerators.devices import LAZY
from ..native import loading as native
from ..patching import replace

Tensor: Any = torch.Tensor  # the types do not know the probe's attributes


class Shell(torch.Tensor):
    """The class of a simulated tensor while C++ creates it."""

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # type: ignore[override]
        raise NotImplementedError(f"{func} met a simulated tensor outside the simulated world")


_make: Any = torch.Tensor._make_wrapper_subclass
_base: Any = torch._C.TensorBase
# The originals: patched ones are slower.
_layout, _is_conj, _is_neg, _strides = _base.layout.__get__, _base.is_conj, _base.is_neg, _base.stride
_strided, _sparse = torch.strided, torch.sparse_coo
_tracing = torch._C._get_tracing_state
_inferring = torch.is_inference_mode_enabled
_KEYS = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCUDA)
_CONJUGATE = torch._C.DispatchKeySet(torch._C.DispatchKey.Conjugate)
_NEGATIVE = torch._C.DispatchKeySet(torch._C.DispatchKey.Negative)


_COMPLEX = frozenset((torch.complex32, torch.complex64, torch.complex128))
_special = _COMPLEX  # dtypes that `wrap` has to look at: complex ones, and those that the kind of device lacks
_absent: frozenset[torch.dtype] = frozenset()


def _wrap(held: torch.Tensor, index: int) -> Any:
    """Return a tensor on simulated GPU `index` with the values of `held`, without a copy."""
    if _inferring() and not held.is_inference():
        # In inference mode a view of an ordinary tensor is ordinary too: C++ uses its base's version counter.
        with torch.inference_mode(False):
            return _wrap(held, index)
    if held.dtype in _absent:
        held = mps_composites.present(held)
    if held.is_nested:
        return _wrap_nested(held, index)
    layout, shape, strides, offset, keys = _layout(held), held.shape, None, None, _KEYS
    if layout is _strided:
        strides, offset = _strides(held), held.storage_offset()
        if _is_conj(held):
            keys = keys | _CONJUGATE
        if _is_neg(held):
            keys = keys | _NEGATIVE
    elif layout is not _sparse:  # C++ would ask a shell of a compressed layout which of them it is, and end the process
        layout = _strided
    shell: Any = _make(
        Shell, shape, strides, offset, None, held.dtype, layout, LAZY[index], False, False, None, False, False, keys
    )
    shell.__class__ = Tensor
    shell._devfix_held = held
    shell._devfix_gpu = index
    return shell


def _wrap_new(held: torch.Tensor, index: int) -> Any:
    """Do the same as `wrap`, faster, for a tensor that an operator has just created (it is not a view)."""
    dtype = held.dtype
    if _layout(held) is not _strided or dtype in _special:
        return _wrap(held, index)
    try:
        shape = held.shape
    except RuntimeError:  # of a nested tensor
        return _wrap(held, index)
    shell: Any = _make(
        Shell, shape, _strides(held), None, None, dtype, _strided, LAZY[index],
        False, False, None, False, False, _KEYS,
    )  # fmt: skip
    shell.__class__ = Tensor
    shell._devfix_held = held
    shell._devfix_gpu = index
    return shell


def _wrap_nested(held: torch.Tensor, index: int) -> Any:
    """Return a nested tensor on a simulated GPU: its shell is nested too, as C++ requires for varying sizes."""
    guard = torch._C._DisableTorchDispatch()
    try:
        shell: Any = held.detach()
    finally:
        del guard
    shell._devfix_held = held
    shell._devfix_gpu = index
    return shell


_compiled: Any = native.extension()
wrap: Callable[[torch.Tensor, int], Any] = _wrap if _compiled is None else _compiled.wrap
wrap_new: Callable[[torch.Tensor, int], Any] = _wrap_new if _compiled is None else _compiled.wrap_new


def reshape_shell(tensor: Any) -> None:
    """Update the shell's sizes, strides and offset from the inner tensor, after an operator changed them."""
    held = tensor._devfix_held
    if held.layout is not torch.strided or held.is_nested:
        if held.layout is torch.sparse_coo and tensor.shape != held.shape:
            refill_shell(tensor)
        return
    if (
        _tracing() is not None
    ):  # a trace would record the question for sizes, of a tensor that `resize_` takes out of it
        return refill_shell(tensor)
    same = tensor.shape == held.shape and tensor.stride() == held.stride()
    if not same or tensor.storage_offset() != held.storage_offset():
        refill_shell(tensor)


def refill_shell(tensor: Any) -> None:
    """Give a simulated tensor a new shell around its values; the object and its autograd state stay."""
    with modes.enter_mode():
        set_data(tensor, wrap(tensor._devfix_held, tensor._devfix_gpu))


def count_write(tensor: Any) -> None:
    """Count a write to a tensor that autograd did not see, because it went to a view of the inner tensor."""
    torch.autograd.graph.increment_version(tensor)


def install() -> None:
    """Give every tensor the attributes that simulated ones fill, and shells the dispatch keys of the world's kind."""
    global _KEYS, _special, _absent
    kind = kinds.now()
    _KEYS = torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, kind.autocast_key))
    _absent = kind.absent_dtypes
    _special = _COMPLEX | _absent
    native.configure(
        Tensor=Tensor, Parameter=torch.nn.Parameter, absent=_absent, keys=_KEYS, wrap=_wrap, wrap_new=_wrap_new
    )  # fmt: skip
    replace(Tensor, "_devfix_held", None, add=True)
    replace(Tensor, "_devfix_gpu", -1, add=True)
    replace(Tensor, "_devfix_record", None, add=True)
    replace(Tensor, "_devfix_whole", None, add=True)


def sizes(tensor: Any) -> list[int]:
    """Return the sizes of a tensor; for a nested one, the number of its tensors.

    A parameter of a lazy module has none before the first call.
    """
    if is_lazy(tensor):
        return []
    return [int(tensor.size(0))] if tensor.is_nested else [int(size) for size in tensor.shape]


device_of = _base.device.__get__
set_data = _base.data.__set__
