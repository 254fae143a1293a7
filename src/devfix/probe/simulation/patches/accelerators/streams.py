"""Simulated streams and events: execution is synchronous, so that all work is done.

PyTorch's own classes (`torch.cuda.Stream`) stand on these, as on those of its C++ in a build with CUDA.
"""

from __future__ import annotations

import time
from typing import Any

import torch

from ...accelerators import captures, devices, kinds, messages, stream_pools


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
        event = Event(self.device) if event is None else event
        event.record(self)
        return event

    def synchronize(self) -> None:
        """Do not wait."""
        captures.wait_for_stream(self._devfix_place)

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
        cls, priority: int = 0, stream_id: int = 0, device_index: int = 0, device_type: int = 0, stream_ptr: int = 0,
        **unknown: Any,
    ) -> Any:  # fmt: skip
        if unknown:
            raise TypeError(f"'{next(iter(unknown))}' is an invalid keyword argument for this function")
        if devices.forbidden():
            raise messages.cuda_error("initialization error", "cudaErrorInitializationError")
        if stream_ptr:
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


class Event:
    """A time on the host's clock: `torch.Event`."""

    _devfix_moment: float | None = None
    _devfix_gpu = 0
    _devfix_timing = False
    _devfix_between = False  # whether it is for several processes
    _devfix_external = False  # whether it is a node of a graph, and no edge
    _devfix_captured: Any = None  # the capture it was recorded in last, and what comes before it there

    def __new__(
        cls, device: Any = None, *, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> Any:
        """Return an event that was not recorded yet."""
        if device is not None and devices.index_named(device) is None:
            return _original_event(device, enable_timing=enable_timing, blocking=blocking, interprocess=interprocess)
        made = object.__new__(cls)
        made._devfix_timing = bool(enable_timing)
        made._devfix_gpu = devices.current() if device is None else devices.index_named(device) or 0
        return made

    @property
    def event_id(self) -> int:
        """The handle of the event."""
        return 0 if self._devfix_moment is None else id(self)

    @property
    def device(self) -> torch.device | None:
        """The device of the event."""
        return devices.SHOWN[self._devfix_gpu]

    def record(self, stream: Any = None) -> None:
        """Record the time. Raises for a stream of another device than before (CUDAEvent.h, XPUEvent.h)."""
        gpu = devices.current() if stream is None else stream.device_index
        if self._devfix_moment is not None and gpu != self._devfix_gpu:
            raise RuntimeError(f"Event device {self._devfix_gpu} does not match recording stream's device {gpu}.")
        place = captures.stream_of(gpu) if stream is None else stream._devfix_place
        self._devfix_captured = captures.place_of_event(place)
        if self._devfix_external and self._devfix_captured is not None:
            self._devfix_captured[0].launch(place)
            self._devfix_captured = None
        self._devfix_moment, self._devfix_gpu = time.perf_counter(), gpu

    def __repr__(self) -> str:
        place = f"device_type={kinds.now().name}, device_index={self._devfix_gpu}"
        return f"torch.Event {place}, event_flag={int(not self._devfix_timing)}, event_id={self.event_id}"

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"cannot pickle '{type(self).__name__}' object")

    def ipc_handle(self) -> bytes:
        """Return a handle for another process, of as many bytes as cudaIpcEventHandle_t has."""
        return id(self).to_bytes(64, "little")

    @classmethod
    def from_ipc_handle(cls, device: Any, handle: bytes) -> Any:
        """Return an event of another process, whose work is done."""
        made = cls()
        made._devfix_moment, made._devfix_gpu = time.perf_counter(), devices.index_named(device) or 0
        return made

    def elapsed_time(self, end_event: Any) -> float:
        """Return the milliseconds between two recorded events."""
        if not (self._devfix_timing and end_event._devfix_timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self._devfix_moment is None or end_event._devfix_moment is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        self.query()
        end_event.query()
        return float(end_event._devfix_moment - self._devfix_moment) * 1000.0

    def query(self) -> bool:
        """Return True: the event has occurred."""
        if self._devfix_moment is not None:
            captures.ask_event(self._devfix_captured)
        return True

    def synchronize(self) -> None:
        """Do not wait."""
        if self._devfix_moment is not None:
            captures.ask_event(self._devfix_captured)

    def wait(self, stream: Any = None) -> None:
        """Let a stream, the current one if none is given, take part in the capture of the event, if there is one."""
        place = captures.stream_of() if stream is None else stream._devfix_place
        capture = captures.of(place)
        if self._devfix_external and capture is not None:
            capture.launch(place)
        elif self._devfix_moment is not None:
            captures.wait(place, self._devfix_captured)


class _CudaEvent(Event):
    cuda_event = Event.event_id

    def __new__(
        cls, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False, external: bool = False
    ) -> Any:
        made = object.__new__(cls)
        made._devfix_timing, made._devfix_between = bool(enable_timing), bool(interprocess)
        made._devfix_external = bool(external)
        return made

    def record(self, stream: Any = None) -> None:
        """Record the time. Creates the event, whose flags the driver then refuses: it times none of two processes."""
        if self._devfix_between and self._devfix_timing:
            raise messages.cuda_error("invalid argument", "cudaErrorInvalidValue")
        super().record(stream)

    def ipc_handle(self) -> bytes:
        """Return a handle for another process, of an event that was made for several."""
        if self._devfix_between and self._devfix_timing:
            raise messages.cuda_error("invalid argument", "cudaErrorInvalidValue")
        if not self._devfix_between:
            raise messages.cuda_error("invalid resource handle", "cudaErrorInvalidResourceHandle")
        return super().ipc_handle()

    @property
    def device(self) -> torch.device | None:
        return None if self._devfix_moment is None else devices.SHOWN[self._devfix_gpu]


class _XpuEvent(_CudaEvent):
    sycl_event = Event.event_id


class MpsEvent(_CudaEvent):
    """An event of MPS, which is recorded on the only stream."""


_original_stream: Any = getattr(torch, "Stream", None)
_original_event: Any = getattr(torch, "Event", None)
Stream.__module__ = Event.__module__ = "torch"
BASES = {"cuda": (_CudaStream, _CudaEvent), "xpu": (_XpuStream, _XpuEvent)}
"""The bases of PyTorch's classes of streams and events, by kind of device."""


def set_stream(stream: Any) -> None:
    """Make a stream current, and its device."""
    if stream is not None:
        stream_pools.make_current(stream.stream_id, stream.device_index)
        devices.make_current(stream.device_index)
