"""Put PyTorch's classes of streams and events, and its functions for them, above the simulated ones."""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import handle_torch_function

from ...accelerators import devices, kinds, messages, stream_pools
from ...patching import overridden, replace, wrap
from ...tensors.tensor import Tensor
from . import events, streams
from .random_state import index_of
from .rebasing import rebase

_made: dict[Any, Any] = {}  # by PyTorch's class: a world that is entered again has the same classes


def _above(original: Any, base: Any) -> Any:
    if original not in _made:
        _made[original] = rebase(original, base)
    return _made[original]


def _missing(index: int) -> RuntimeError:
    """Return the error of `check_gpu` in c10/cuda/CUDAStream.cpp for a GPU that does not exist."""
    if not kinds.now().is_cuda:
        return messages.invalid_ordinal(index, devices.count())
    return RuntimeError(f"Device index value {index} is out of index range [0, {devices.count()})")


def _triple_of_current(device: Any = None) -> tuple[int, int, int]:
    index = index_of(device, _missing)
    return (stream_pools.current(index), index, stream_pools.type_now())


def _triple_of_default(device: Any = None) -> tuple[int, int, int]:
    return (0, index_of(device, _missing), stream_pools.type_now())


def raw_handle(device: Any = None) -> int:
    """Return the driver's address of a device's current stream."""
    stream, index, _ = _triple_of_current(device)
    return stream_pools.handle_of(stream, index)


def current_stream(device: Any = None) -> Any:
    """Return the current stream of a device in this thread: `torch.accelerator.current_stream`."""
    return streams.stream_numbered(streams.Stream, *_triple_of_current(device)[:2])


def _default_of_kind(device: Any = None) -> Any:
    return streams.stream_numbered(_class_now(), *_triple_of_default(device)[:2])


def _current_of_kind(device: Any = None) -> Any:
    return streams.stream_numbered(_class_now(), *_triple_of_current(device)[:2])


def _class_now() -> Any:
    return getattr(getattr(torch, kinds.now().name), "Stream", streams.Stream)


def _set_stream(stream_id: int, device_index: int, device_type: int) -> None:
    stream_pools.make_current(stream_id, device_index)
    devices.make_current(device_index)


def _recording(original: Any) -> Any:
    def record_stream(self: Any, s: Any) -> Any:
        if overridden(self):
            return handle_torch_function(Tensor.record_stream, (self,), self, s)
        if not isinstance(s, streams.Stream):
            return original(self, s)  # whose parser refuses it: in 2.13 by a RuntimeError, "unknown parameter type"
        if self.device.type == "cpu":
            raise messages.no_kernel("aten::record_stream", "CPU")
        return None

    return record_stream


def _classes(name: str) -> dict[str, Any]:
    """Return the classes of a kind of device by name, each a class of PyTorch's above a simulated one."""
    if name == "mps":
        return {"Event": events.MpsEvent}
    stream, event = streams.BASES[name]
    part = getattr(torch, name).streams
    found = {"Stream": _above(part.Stream, stream), "Event": _above(part.Event, event)}
    if hasattr(part, "ExternalStream"):
        found["ExternalStream"] = _above(part.ExternalStream, found["Stream"])
    return found


def install() -> None:
    """Patch streams and events in the module of the kind of device, and in torch itself."""
    name = kinds.now().name
    module = getattr(torch, name)
    part = getattr(module, "event" if name == "mps" else "streams", None)
    for known, kind in _classes(name).items():
        for owner in (module, part):
            if hasattr(owner, known):
                replace(owner, known, kind)
    for known, kind in (("Stream", streams.Stream), ("Event", events.Event)):
        if hasattr(torch, known):
            replace(torch, known, kind)
    wrap(Tensor, "record_stream", _recording)
    if kinds.now().is_cuda:  # `torch.cuda.current_stream` and similar functions call these
        replace(torch._C, "_cuda_setStream", _set_stream, add=True)
        replace(torch._C, "_cuda_getCurrentStream", _triple_of_current, add=True)
        replace(torch._C, "_cuda_getDefaultStream", _triple_of_default, add=True)
        replace(torch._C, "_cuda_getCurrentRawStream", raw_handle, add=True)
        return
    for known, function in (
        ("current_stream", _current_of_kind), ("default_stream", _default_of_kind), ("set_stream", streams.set_stream)
    ):  # fmt: skip
        if hasattr(module, known):
            replace(module, known, function)
