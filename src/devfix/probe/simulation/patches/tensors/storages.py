"""Storages of simulated tensors: the inner bytes, marked with the GPU on which they claim to be."""

from __future__ import annotations

from typing import Any

import torch

from ... import hooks
from ...accelerators import devices, kinds, messages
from ...dispatcher import freed_memory, graph_capture
from ...patching import overridden, replace, undo_with, wrap
from ...tensors.tensor import Tensor

Storage = torch.UntypedStorage
_BASE: Any = torch._C.StorageBase
_below = torch._C._DisableTorchDispatch
copying: list[bool] = []  # not empty while the values of simulated tensors are copied, together with the marked bytes


def _mark(storage: Any, gpu: int) -> Any:
    if gpu >= 0:
        storage._devfix_gpu = gpu
    return storage


def _of_tensor(original: Any) -> Any:
    def untyped_storage(self: Any) -> Any:
        held = None if overridden(self) else self._devfix_held
        if held is not None:
            return _mark(original(held), self._devfix_gpu)
        found = original(self)
        if _is_pinned(self):
            found._devfix_pinned = True
        return found

    return untyped_storage


def _is_pinned(tensor: Any) -> bool:
    return bool(tensor._devfix_pinned or (tensor._base is not None and tensor._base._devfix_pinned))


def _pinned_check(original: Any) -> Any:
    return lambda self, device=None: bool(self._devfix_pinned) or (self._devfix_gpu < 0 and original(self, device))


def _new(cls: Any, *args: Any, device: Any = None, **kwargs: Any) -> Any:
    index = None if device is None else devices.index_named(device)
    if index is None and device is not None:
        kwargs["device"] = device
    return _mark(_BASE.__new__(cls, *args, **kwargs), -1 if index is None else index)


def _device(self: Any) -> Any:
    gpu = self._devfix_gpu
    return devices.SHOWN[gpu] if gpu >= 0 else devices.outer(_BASE.device.__get__(self))


def _move(self: Any, gpu: int) -> Any:
    copy = Storage(self.nbytes())
    guard = _below()  # C++ creates tensors for both, whose devices it knows from the bytes
    _BASE.copy_(copy, self, False)
    del guard
    return _mark(copy, gpu)


def _to(original: Any) -> Any:
    def to(self: Any, *, device: Any, non_blocking: bool = False) -> Any:
        index = devices.index_named(device)
        if index is None and (self._devfix_gpu < 0 or torch.device(device).type != "cpu"):
            source = self if self._devfix_gpu < 0 else _move(self, -1)
            return original(source, device=device, non_blocking=non_blocking)
        target = -1 if index is None else index
        return self if target == self._devfix_gpu else _move(self, target)

    return to


def _onto(original: Any) -> Any:
    name = kinds.now().name

    def onto(self: Any, device: Any = None, non_blocking: bool = False) -> Any:
        return self.to(device=name if device is None else device)

    return onto


def _cpu(original: Any) -> Any:
    def cpu(self: Any) -> Any:
        if self._devfix_gpu < 0:
            return self
        graph_capture.note_copy(self._devfix_gpu)
        return _move(self, -1)

    return cpu


def _clone(original: Any) -> Any:
    def clone(self: Any) -> Any:
        return original(self) if self._devfix_gpu < 0 else _move(self, self._devfix_gpu)

    return clone


def _like(original: Any) -> Any:
    return lambda self, *args, **kwargs: _mark(original(self, *args, **kwargs), self._devfix_gpu)


def _resize(original: Any) -> Any:
    def resize_(self: Any, size: int) -> Any:
        result = original(self, size)
        if self._devfix_gpu >= 0:
            freed_memory.record_size(self)
        return result

    return resize_


def _copy(original: Any) -> Any:
    def copy_(self: Any, source: Any, non_blocking: bool | None = None) -> Any:
        guard = _below()
        try:
            return original(self, source, bool(non_blocking))
        finally:
            del guard

    return copy_


def _setting(original: Any) -> Any:
    """Check what a program sets: C++ also sets storages, for whose bytes it creates host tensors."""

    def set_(self: Any, *args: Any, **kwargs: Any) -> Any:
        source = args[0] if args else kwargs.get("source")
        # A typed storage warns when its device is queried.
        bytes_: Any = getattr(source, "_untyped_storage", source)
        if source is not None and not copying and not overridden(self) and bytes_.device != self.device:
            error = messages.foreign_storage(self.device, bytes_.device)
            hooks.failed(error, "torch.Tensor.set_", (self, source), {})
            raise error
        return original(self, *args, **kwargs)

    return set_


def _strip(original: Any) -> Any:
    """Exclude the probe's own attributes from what is copied or pickled with a tensor."""

    def state(tensor: Any) -> Any:
        found = original(tensor)
        if isinstance(found, dict):
            return {name: value for name, value in found.items() if not name.startswith("_devfix_")}
        return found

    return state


def _marking(original: Any) -> Any:
    """Let a tensor that is loaded be conjugated or negated in its values, as its shell is."""

    def set_tensor_metadata(tensor: Any, metadata: Any) -> None:
        original(tensor, metadata)
        if tensor._devfix_gpu >= 0:
            original(tensor._devfix_held, metadata)

    return set_tensor_metadata


def install() -> None:
    """Patch storages and pickling."""
    wrap(torch._C, "_set_tensor_metadata", _marking)
    replace(Storage, "_devfix_gpu", -1, add=True)
    replace(Storage, "_devfix_pinned", False, add=True)
    replace(Storage, "device", property(_device), add=True)
    name = kinds.now().name
    if hasattr(Storage, f"is_{name}"):
        replace(Storage, f"is_{name}", property(lambda self: self._devfix_gpu >= 0), add=True)
    wrap(Storage, "to", _to)
    wrap(Storage, "new", _like)
    if not kinds.now().is_cuda:  # `cuda` is Python, and calls `to`
        wrap(Storage, name, _onto)
    wrap(Storage, "cpu", _cpu)
    wrap(Storage, "clone", _clone)
    wrap(Storage, "copy_", _copy)
    wrap(Storage, "resize_", _resize)
    undo_with(freed_memory.reset)
    wrap(Storage, "__getitem__", _slice)
    wrap(Storage, "is_pinned", _pinned_check)
    replace(Storage, "__new__", staticmethod(_new), add=True)
    wrap(Storage, "is_shared", lambda original: lambda self: self._devfix_gpu >= 0 or original(self))
    wrap(Tensor, "untyped_storage", _of_tensor)
    wrap(Tensor, "set_", _setting)
    wrap(torch._utils, "_get_obj_state", _strip)


def _slice(original: Any) -> Any:
    def __getitem__(self: Any, index: Any) -> Any:
        found = original(self, index)
        return _mark(found, self._devfix_gpu) if isinstance(found, Storage) else found

    return __getitem__
