"""Streams, events, graphs and memory figures: all work is done at once, so they only keep their manners."""

from __future__ import annotations

import threading
import time
from typing import Any

import torch

from .. import devices
from ..patching import replace
from ..tensor import Tensor


class Stream:
    """A stream on which everything has already happened."""

    def __init__(self, device: Any = None, priority: int = 0, **kwargs: Any) -> None:
        self.device_index = devices.current() if device is None else devices.spoken(device) or 0
        self.priority = priority
        self.stream_id = self.cuda_stream = kwargs.get("stream_id", id(self) & 0xFFFF)
        self.device_type = 1
        self._outer: list[Any] = []

    @property
    def device(self) -> torch.device:
        """The device whose stream this is."""
        return devices.CUDA[self.device_index]

    def __enter__(self) -> Stream:
        self._outer.append(current_stream())
        set_stream(self)
        return self

    def __exit__(self, *error: Any) -> None:
        set_stream(self._outer.pop())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and (self.stream_id, self.device_index) == (
            other.stream_id,
            other.device_index,
        )

    def __hash__(self) -> int:
        return hash((self.stream_id, self.device_index))

    def query(self) -> bool:
        """Say that all work is done."""
        return True

    def is_capturing(self) -> bool:
        """Say that no graph is captured."""
        return False

    def record_event(self, event: Any = None) -> Any:
        """Record an event, a new one if none is given."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def synchronize(self) -> None:
        """Wait for nothing."""

    def wait_event(self, event: Any) -> None:
        """Wait for nothing."""

    def wait_stream(self, stream: Any) -> None:
        """Wait for nothing."""


class Event:
    """A moment on the host's clock."""

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False, **_: Any
    ) -> None:
        self.enable_timing = enable_timing
        self.moment: float | None = None

    @property
    def device(self) -> torch.device | None:
        """The device on which the event was recorded."""
        return None if self.moment is None else devices.CUDA[devices.current()]

    def record(self, stream: Any = None) -> None:
        """Note the time."""
        self.moment = time.perf_counter()

    def elapsed_time(self, end: Any) -> float:
        """The milliseconds between two recorded events."""
        if not (self.enable_timing and end.enable_timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self.moment is None or end.moment is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return float(end.moment - self.moment) * 1000.0

    def query(self) -> bool:
        """Say that the event has happened."""
        return True

    def synchronize(self) -> None:
        """Wait for nothing."""

    def wait(self, stream: Any = None) -> None:
        """Wait for nothing."""


class _Streams(threading.local):
    def __init__(self) -> None:
        self.of: dict[int, Stream] = {}


_streams = _Streams()


def default_stream(device: Any = None) -> Stream:
    """The stream of a device on which everything runs that names no other."""
    return Stream(device=devices.current() if device is None else device, stream_id=0)


def current_stream(device: Any = None) -> Stream:
    """The stream that is current on a device, in this thread."""
    index = devices.current() if device is None else devices.spoken(device) or 0
    return _streams.of.setdefault(index, default_stream(index))


def set_stream(stream: Any) -> None:
    """Make a stream current on its device."""
    if stream is not None:
        _streams.of[stream.device_index] = stream


def _set_stream(stream_id: int, device_index: int, device_type: int) -> None:
    set_stream(Stream(device=device_index, stream_id=stream_id))
    devices.make_current(device_index)


def install() -> None:
    """Patch streams and events in torch.cuda and in torch itself."""
    cuda = torch.cuda
    for name, kind in (("Stream", Stream), ("Event", Event), ("ExternalStream", Stream)):
        if hasattr(cuda, name):
            replace(cuda, name, kind)
            if hasattr(cuda.streams, name):
                replace(cuda.streams, name, kind)
    for name in ("Stream", "Event"):
        if hasattr(torch, name):
            replace(torch, name, Stream if name == "Stream" else Event)
    for name, answer in (
        ("current_stream", current_stream),
        ("default_stream", default_stream),
        ("set_stream", set_stream),
    ):
        replace(cuda, name, answer)
    # What PyTorch's own test classes (torch.testing) call past torch.cuda.
    replace(torch._C, "_cuda_setStream", _set_stream, add=True)
    replace(torch._C, "_cuda_setDevice", devices.make_current, add=True)
    for name in ("_cuda_clearCublasWorkspaces", "_cuda_resetCublasWorkspaceSize", "_cuda_resetCublasLtWorkspaceSize"):
        replace(torch._C, name, lambda: None, add=True)
    replace(Tensor, "record_stream", lambda self, stream: None, add=True)
