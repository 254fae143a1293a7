"""Index lists: PyTorch's C++ converts them to tensors without the Python key, which fails for simulated tensors."""

from __future__ import annotations

import functools
from typing import Any

import torch

from ...accelerators import messages
from ...dispatcher import composite_path, cpu_fast_path, fast_path, graph_capture
from ...native import loading as native
from ...patching import replace
from ...tensors.tensor import Tensor
from ..kernels import sequences

_BASE: Any = torch._C.TensorBase
_get = _BASE.__getitem__
_set = _BASE.__setitem__
_grad = torch.is_grad_enabled
_func = torch.ops.aten.slice.Tensor  # the most frequent one
_NOTHING: dict[str, Any] = {}
# What `treatSequenceAsTuple` in python_variable_indexing.cpp looks for: tensors, slices, and all sequences.
_PARTS = (list, tuple, str, range, Tensor, slice, type(None), type(Ellipsis))
_MASKS = (torch.bool, torch.uint8)
_PLAIN = frozenset((int, slice, type(None), type(Ellipsis), torch.Tensor))


def _is_list(item: Any) -> bool:
    return isinstance(item, (list, range)) or type(item).__module__ == "numpy"


def _as_tensor(item: Any, self: Any) -> Any:
    """Return a list of numbers as PyTorch's C++ would: an index tensor on the device of the indexed one."""
    if not _is_list(item) or getattr(item, "ndim", 1) == 0:
        return item
    made = torch.as_tensor(item, device="cpu")
    made = made if made.dtype in (torch.bool, torch.uint8) else made.to(torch.long)
    return made.to(self.device)


def _treated_as_tuple(index: list[Any]) -> bool:
    """Return whether a list index means a tuple of indices: NumPy's old rule, which PyTorch uses for short lists."""
    return len(index) < 32 and any(
        isinstance(item, _PARTS) or (type(item).__module__ == "numpy" and type(item).__name__ == "ndarray")
        for item in index
    )


def _translate(self: Any, index: Any) -> Any:
    if isinstance(index, list):
        if _treated_as_tuple(index):
            return tuple(_as_tensor(list(item) if isinstance(item, tuple) else item, self) for item in index)
        return _as_tensor(index, self)
    if isinstance(index, tuple):
        if any(_is_list(item) or isinstance(item, tuple) for item in index):
            return tuple(_as_tensor(list(item) if isinstance(item, tuple) else item, self) for item in index)
        return index
    return _as_tensor(index, self)


def _plain(index: Any) -> bool:
    """Return whether an index contains nothing that C++ would convert to a tensor, which is the common case."""
    kind = type(index)
    if kind is tuple:
        for item in index:  # noqa: SIM110 - a generator would cost as much as the indexing
            if type(item) not in _PLAIN:
                return False
        return True
    return kind in _PLAIN


def _getitem(self: Any, index: Any, /) -> Any:
    gpu = self._devfix_gpu
    if gpu >= 0:
        if not _plain(index):
            index = _translate(self, index)
        elif (
            not _grad()
            and type(self) is Tensor
            and not self.requires_grad
            and _is_fixed(index)
            and composite_path.alone()
        ):
            made = fast_path.run_view(_get, _func, gpu, self, (index,), {})
            if made is not None:
                return made
    elif type(self) is Tensor and _is_plain(index) and composite_path.alone():
        made = cpu_fast_path.run_on_host(_get, _func, (self, index), _NOTHING)
        if made is not None:
            return made
    return _get(self, index)


@functools.cache  # programs may keep it in tables of functions
def _getting() -> Any:
    compiled = native.path(native.ITEM, _get, _func, None, -1, _getitem)
    return _getitem if compiled is None else fast_path.calling(compiled)


def _is_plain(index: Any) -> bool:
    """Return whether an index is plain and contains no tensor."""
    return type(index) is int or (_plain(index) and _is_fixed(index))


def _is_fixed(index: Any) -> bool:
    """Return whether a plain index contains no tensor."""
    if type(index) is tuple:
        for item in index:
            kind = type(item)
            if kind is Tensor or (kind is slice and not _numbers(item)):
                return False
        return True
    return type(index) is not Tensor and (type(index) is not slice or _numbers(index))


def _numbers(part: slice) -> bool:
    return (
        (part.start is None or type(part.start) is int)
        and (part.stop is None or type(part.stop) is int)
        and part.step is None
    )


def _setitem(self: Any, index: Any, value: Any, /) -> None:
    if self._devfix_gpu >= 0:
        if not _plain(index):
            index = _translate(self, index)
        if not isinstance(value, (Tensor, int, float, complex)):
            return _set_other(self, index, value)
        if composite_path.watched and not isinstance(value, Tensor) and _copies_number(self, index):
            graph_capture.note_copy(self._devfix_gpu)
    _set(self, index, value)


def _copies_number(self: Any, index: Any) -> bool:
    """Return whether C++ copies a number from the host: it makes a tensor there of what is assigned.

    `copy_to` in python_variable_indexing.cpp fills with it, but copies where both have no dimensions; `index_put_`
    copies it, but fills where masks say.
    """
    parts = index if isinstance(index, tuple) else (index,)
    tensors = [part for part in parts if isinstance(part, Tensor)]
    indices = [part for part in tensors if part.dim() or part.dtype in _MASKS]
    if indices:
        return not all(part.dtype in _MASKS for part in indices)
    if any(part._devfix_gpu >= 0 for part in tensors) or any(isinstance(part, bool) for part in parts):
        return False  # the host waits for the number of a GPU, and copies
    return not _get(self, index).dim()


def _set_other(self: Any, index: Any, value: Any) -> None:
    """Assign what is no tensor and no number of Python's: C++ takes NumPy's integers, and refuses lists and arrays."""
    try:
        _set(self, index, value)
    except TypeError as error:
        messages.translate(error)
        raise


def install() -> None:
    """Patch indexing."""
    for name, new in (("__getitem__", _getting()), ("__setitem__", _setitem)):
        new.__name__ = name  # `__torch_function__` may read it
        new.__qualname__ = f"TensorBase.{name}"
        replace(Tensor, name, new, add=True)
    sequences.hide(Tensor, torch.empty(0))
