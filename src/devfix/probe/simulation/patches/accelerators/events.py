"""Simulated events: times on the host's clock. PyTorch's own classes (`torch.cuda.Event`) stand on these."""

from __future__ import annotations

import time
from typing import Any

import torch

from ...accelerators import captures, devices, kinds, messages


class Event:
    """A time on the host's clock: `torch.Event`."""

    _devfix_moment: float | None = None
    _devfix_gpu = -1  # until it is recorded
    _devfix_timing = False
    _devfix_between = False  # whether it is for several processes
    _devfix_external = False  # whether it is a node of a graph, and no edge
    _devfix_captured: Any = None  # the capture it was recorded in last, and what comes before it there

    def __new__(
        cls, device: Any = None, *, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> Any:
        """Return an event that was not recorded yet."""
        if device is not None and not _is_of_kind(device):
            return _original_event(device, enable_timing=enable_timing, blocking=blocking, interprocess=interprocess)
        made = object.__new__(cls)
        made._devfix_timing = bool(enable_timing)
        return made

    @property
    def _devfix_name(self) -> str:
        return f"torch.{kinds.now().name}.Event" if isinstance(self, CudaEvent) else "torch.Event"

    def _devfix_check(self, stream: Any) -> None:
        """Raise what C++ does for what is no stream."""
        if stream is not None and not hasattr(stream, "_devfix_place"):
            raise RuntimeError(f"expected stream to be a torch.Stream or torch.{kinds.now().name}.Stream object")

    @property
    def event_id(self) -> int:
        """The handle of the event."""
        return 0 if self._devfix_moment is None else id(self)

    @property
    def device(self) -> torch.device | None:
        """The device of the event, which has no index until it is recorded."""
        return devices.SHOWN[self._devfix_gpu] if self._devfix_gpu >= 0 else torch.device(kinds.now().name)

    def record(self, stream: Any = None) -> None:
        """Record the time. Raises for a stream of another device than before (CUDAEvent.h, XPUEvent.h)."""
        self._devfix_check(stream)
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
        return f"torch.Event {place}, event_flag={int(self._devfix_timing)}, event_id={self.event_id}"

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
        if not isinstance(end_event, Event) or isinstance(end_event, CudaEvent) != isinstance(self, CudaEvent):
            raise RuntimeError(f"expected other to be a {self._devfix_name} object")
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
        self._devfix_check(stream)
        place = captures.stream_of() if stream is None else stream._devfix_place
        capture = captures.of(place)
        if self._devfix_external and capture is not None:
            capture.launch(place)
        elif self._devfix_moment is not None:
            captures.wait(place, self._devfix_captured)


class CudaEvent(Event):
    """The base of `torch.cuda.Event`: `_CudaEventBase` in torch/csrc/cuda/Event.cpp."""

    cuda_event = Event.event_id

    def __new__(
        cls, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False, external: bool = False
    ) -> Any:
        """Return an event that was not recorded yet."""
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
        """The device of the event; None until it is recorded."""
        return None if self._devfix_moment is None else devices.SHOWN[self._devfix_gpu]


class XpuEvent(CudaEvent):
    """The base of `torch.xpu.Event`."""

    sycl_event = Event.event_id


class MpsEvent(CudaEvent):
    """An event of MPS, which is recorded on the only stream."""


_original_event: Any = getattr(torch, "Event", None)
Event.__module__ = "torch"


def _is_of_kind(device: Any) -> bool:
    """Return whether a device is of the world's kind. Nothing asks whether it exists before the event is recorded."""
    return isinstance(device, int) or torch.device(device).type == kinds.now().name
