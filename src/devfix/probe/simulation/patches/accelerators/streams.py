"""Simulated streams: execution is synchronous, so that all work is done.

PyTorch's own classes (`torch.cuda.Stream`) stand on these, as on those of its C++ in a build with CUDA.
"""

from __future__ import annotations

from typing import Any

import torch

from ...accelerators import captures, devices, kinds, messages, stream_pools
from ...dispatcher import graph_capture
from . import events


class Stream:
    """A stream whose work has always completed: `torch.Stream`."""

    device_index: int
    stream_id: int
    device_type: int

    def __new__(
        cls, device: Any = None, device_index: int | None = None, device_type: int = 0, *, priority: int = 0,
        stream_id: int | None = None,
    ) -> Any:  # fmt: skip
        """Return a new stream of a device, or the one with three numbers."""
        if type(device) is int and device_index is not None:
            device, stream_id = None, device
        if stream_id is not None:
            return stream_numbered(cls, stream_id, device_index or 0)
        index = devices.current() if device is None else devices.index_named(device)
        if index is None:
            return _original_stream(device, priority=priority)  # of the host, say
        devices.use()
        return stream_numbered(cls, stream_pools.next_of(index, priority), index)

    @property
    def device(self) -> torch.device:
        """The device of this stream."""
        return devices.SHOWN[self.device_index]

    @property
    def native_handle(self) -> int:
        """The driver's address of the stream."""
        return stream_pools.handle_of(self.stream_id, self.device_index)

    def __enter__(self) -> Any:
        outer = (stream_pools.current(devices.current()), devices.current())
        beside = stream_pools.current(self.device_index)
        self.__dict__.setdefault("_devfix_outer", []).append((outer, beside))
        set_stream(self)
        return self

    def __exit__(self, *error: Any) -> None:
        (stream, device), beside = self.__dict__["_devfix_outer"].pop()
        stream_pools.make_current(beside, self.device_index)
        stream_pools.make_current(stream, device)
        devices.make_current(device)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and (self.stream_id, self.device_index) == (
            other.stream_id,
            other.device_index,
        )

    def __hash__(self) -> int:
        return hash((self.stream_id, self.device_index))

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"cannot pickle '{type(self).__name__}' object")

    @property
    def _devfix_place(self) -> captures.Stream:
        return self.device_index, self.stream_id

    def query(self) -> bool:
        """Return True: all work is done."""
        captures.ask_stream(self._devfix_place)
        return True

    def is_capturing(self) -> bool:
        """Return whether the stream takes part in a capture that has not failed."""
        capture = captures.of(self._devfix_place)
        return capture is not None and not capture.invalid

    def record_event(self, event: Any = None) -> Any:
        """Record an event, a new one if none is given."""
        if event is not None and type(self) is Stream and not isinstance(event, events.Event):
            raise RuntimeError("expected event to be a torch.Event object")
        event = events.Event(self.device) if event is None else event
        event.record(self)
        return event

    def synchronize(self) -> None:
        """Do not wait."""
        captures.wait_for_stream(self._devfix_place)
        graph_capture.told_of()

    def __repr__(self) -> str:
        place = f"device_type={kinds.now().name}, device_index={self.device_index}"
        return f"torch.Stream {place}, stream_id={self.stream_id}"

    def wait_event(self, event: Any) -> None:
        """Take part in the capture of the event, if there is one."""
        event.wait(self)

    def wait_stream(self, stream: Any) -> None:
        """Take part in the capture of the other stream, if there is one."""
        self.wait_event(stream.record_event())


def stream_numbered(cls: Any, stream: int, device: int) -> Any:
    """Return the stream of a class with a number."""
    made = object.__new__(cls)
    made.stream_id, made.device_index, made.device_type = int(stream), int(device), stream_pools.type_now()
    return made


class _DeviceStream(Stream):
    """The base of PyTorch's stream classes of CUDA and XPU: `_CudaStreamBase` in torch/csrc/cuda/Stream.cpp."""

    def __new__(
        cls, priority: int = 0, stream_id: int = 0, device_index: int = 0, device_type: int = 0,
        stream_ptr: int | None = None, **unknown: Any,
    ) -> Any:  # fmt: skip
        if unknown:
            raise TypeError(f"'{next(iter(unknown))}' is an invalid keyword argument for this function")
        if devices.forbidden():
            raise messages.cuda_error("initialization error", "cudaErrorInitializationError")
        if stream_ptr is not None:
            if priority:
                raise RuntimeError("Priority was explicitly set for a external stream")
            return stream_numbered(cls, stream_ptr, devices.current())
        if stream_id or device_index or device_type:
            return stream_numbered(cls, stream_id, device_index)
        devices.use()
        return stream_numbered(cls, stream_pools.next_of(devices.current(), priority), devices.current())

    @property
    def priority(self) -> int:
        """The priority of the stream."""
        return stream_pools.priority_of(self.stream_id)

    @staticmethod
    def priority_range() -> tuple[int, int]:
        """Return the lowest and the highest priority."""
        return stream_pools.priorities()


class _CudaStream(_DeviceStream):
    cuda_stream = Stream.native_handle


class _XpuStream(_DeviceStream):
    sycl_queue = Stream.native_handle


_original_stream: Any = getattr(torch, "Stream", None)
Stream.__module__ = "torch"
BASES = {"cuda": (_CudaStream, events.CudaEvent), "xpu": (_XpuStream, events.XpuEvent)}
"""The bases of PyTorch's classes of streams and events, by kind of device."""


def set_stream(stream: Any) -> None:
    """Make a stream current, and its device."""
    if stream is not None:
        stream_pools.make_current(stream.stream_id, stream.device_index)
        devices.make_current(stream.device_index)
