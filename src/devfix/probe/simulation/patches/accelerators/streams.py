"""Simulated streams and events: execution is synchronous, so these are API-compatible no-ops."""

from __future__ import annotations

import ctypes
import threading
import time
from typing import Any

import torch
from torch.overrides import handle_torch_function

from ...accelerators import devices, kinds, messages
from ...dispatcher import graph_capture
from ...patching import overridden, replace, wrap
from ...tensors.tensor import Tensor
from .random_state import index_of

_TYPES = {"cuda": 1, "xpu": 12, "mps": 13}  # DeviceType in c10/core/DeviceType.h


class Stream:
    """A stream whose work has always completed."""

    def __init__(self, device: Any = None, priority: int = 0, **kwargs: Any) -> None:
        self.device_index = devices.current() if device is None else devices.spoken(device) or 0
        self.priority = priority
        self.stream_id = self.cuda_stream = self.sycl_queue = kwargs.get("stream_id", id(self) & 0xFFFF)
        self.device_type = _TYPES[kinds.now().name]
        self._outer: list[Any] = []

    @property
    def device(self) -> torch.device:
        """The device of this stream."""
        return devices.SHOWN[self.device_index]

    def __enter__(self) -> Stream:
        self._outer.append((current_stream(), current_stream(self.device)))
        set_stream(self)
        return self

    def __exit__(self, *error: Any) -> None:
        before, beside = self._outer.pop()
        set_stream(beside)
        set_stream(before)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and (self.stream_id, self.device_index) == (
            other.stream_id,
            other.device_index,
        )

    def __hash__(self) -> int:
        return hash((self.stream_id, self.device_index))

    @staticmethod
    def priority_range() -> tuple[int, int]:
        """Return the lowest and the highest priority, which PyTorch uses on all newer GPUs."""
        return (0, -3)

    def query(self) -> bool:
        """Return True: all work is done."""
        return True

    def is_capturing(self) -> bool:
        """Return whether a graph is being captured."""
        return graph_capture.active()

    def record_event(self, event: Any = None) -> Any:
        """Record an event, a new one if none is given."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def synchronize(self) -> None:
        """Do not wait."""
        graph_capture.check()

    @property
    def _as_parameter_(self) -> int:
        return int(self.cuda_stream)

    def __repr__(self) -> str:
        kind = kinds.now()
        handle = "sycl_queue" if kind.name == "xpu" else "cuda_stream"
        if kind.name == "mps":
            return f"torch.Stream device_type={kind.name}, device_index={self.device_index}, stream_id={self.stream_id}"
        return f"<{kind.module}.Stream device={self.device} {handle}={self.cuda_stream:#x}>"

    def wait_event(self, event: Any) -> None:
        """Do not wait."""

    def wait_stream(self, stream: Any) -> None:
        """Do not wait."""


class ExternalStream(Stream):
    """A stream created by another library: its address is the first argument."""

    def __init__(self, stream_ptr: int, device: Any = None, **kwargs: Any) -> None:
        super().__init__(device, stream_id=stream_ptr)


class Event:
    """A time on the host's clock."""

    enable_timing = False

    def __init__(self, *given: Any, **named: Any) -> None:
        if given and not isinstance(given[0], bool):
            given = given[1:]  # `torch.Event` is given its device first
        self.__dict__.update(zip(("enable_timing", "blocking", "interprocess"), given))  # noqa: B905 - or fewer
        self.enable_timing = bool(named.get("enable_timing", self.enable_timing))
        self.moment: float | None = None
        self._gpu = 0

    @property
    def cuda_event(self) -> int:
        """The handle of the event."""
        return 0 if self.moment is None else id(self)

    @property
    def device(self) -> torch.device | None:
        """The device on which the event was recorded."""
        return None if self.moment is None else devices.SHOWN[self._gpu]

    def record(self, stream: Any = None) -> None:
        """Record the time. Raises for a stream of another device than before (CUDAEvent.h, XPUEvent.h)."""
        gpu = devices.current() if stream is None else stream.device_index
        if self.moment is not None and gpu != self._gpu:
            raise RuntimeError(f"Event device {self._gpu} does not match recording stream's device {gpu}.")
        self.moment, self._gpu = time.perf_counter(), gpu

    @property
    def _as_parameter_(self) -> ctypes.c_void_p:
        return ctypes.c_void_p(self.cuda_event)

    def __repr__(self) -> str:
        kind = kinds.now()
        if kind.name == "xpu":
            state = f"sycl_event={self.cuda_event:#x}" if self.cuda_event else "uninitialized"
            return f"torch.xpu.Event({state})"
        return f"<{kind.module}.Event {f'{self.cuda_event:#x}' if self.cuda_event else 'uninitialized'}>"

    def ipc_handle(self) -> bytes:
        """Return a handle for another process, of as many bytes as cudaIpcEventHandle_t has."""
        return id(self).to_bytes(64, "little")

    def elapsed_time(self, end: Any) -> float:
        """Return the milliseconds between two recorded events."""
        if not (self.enable_timing and end.enable_timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self.moment is None or end.moment is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return float(end.moment - self.moment) * 1000.0

    def query(self) -> bool:
        """Return True: the event has occurred."""
        return True

    def synchronize(self) -> None:
        """Do not wait."""

    def wait(self, stream: Any = None) -> None:
        """Do not wait."""


class _Streams(threading.local):
    def __init__(self) -> None:
        self.of: dict[int, Stream] = {}


_streams = _Streams()


def _missing(index: int) -> RuntimeError:
    """Return the error of `check_gpu` in c10/cuda/CUDAStream.cpp for a GPU that does not exist."""
    if not kinds.now().is_cuda:
        return messages.invalid_ordinal(index, devices.count())
    return RuntimeError(f"Device index value {index} is out of index range [0, {devices.count()})")


def default_stream(device: Any = None) -> Stream:
    """Return the default stream of a device."""
    return Stream(device=index_of(device, _missing), stream_id=0)


def current_stream(device: Any = None) -> Stream:
    """Return the current stream of a device in this thread."""
    index = index_of(device, _missing)
    return _streams.of.setdefault(index, default_stream(index))


def set_stream(stream: Any) -> None:
    """Make a stream current, and its device."""
    if stream is not None:
        _streams.of[stream.device_index] = stream
        devices.make_current(stream.device_index)


def _set_stream(stream_id: int, device_index: int, device_type: int) -> None:
    set_stream(Stream(device=device_index, stream_id=stream_id))
    devices.make_current(device_index)


def _recording(original: Any) -> Any:
    def record_stream(self: Any, s: Any) -> Any:
        if overridden(self):
            return handle_torch_function(Tensor.record_stream, (self,), self, s)
        if not isinstance(s, Stream):
            given = type(s).__name__
            raise TypeError(f"record_stream(): argument 's' (position 1) must be Stream, not {given}")
        if self.device.type == "cpu":
            raise messages.no_kernel("aten::record_stream", "CPU")
        return None

    return record_stream


def install() -> None:
    """Patch streams and events in the module of the kind of device, and in torch itself."""
    module = getattr(torch, kinds.now().name)
    part = getattr(module, "event" if kinds.now().name == "mps" else "streams", None)
    for name, kind in (("Stream", Stream), ("Event", Event), ("ExternalStream", ExternalStream)):
        for owner in (module, part):
            if hasattr(owner, name):
                replace(owner, name, kind)
    for name in ("Stream", "Event"):
        if hasattr(torch, name):
            replace(torch, name, Stream if name == "Stream" else Event)
    for name, answer in (
        ("current_stream", current_stream),
        ("default_stream", default_stream),
        ("set_stream", set_stream),
    ):
        if hasattr(module, name):
            replace(module, name, answer)
    wrap(Tensor, "record_stream", _recording)
    if not kinds.now().is_cuda:
        return
    # Called directly by PyTorch's own test classes (torch.testing).
    replace(torch._C, "_cuda_setStream", _set_stream, add=True)
    replace(torch._C, "_cuda_setDevice", devices.make_current, add=True)
    replace(torch._C, "_cuda_clearCublasWorkspaces", lambda: None, add=True)
