"""Captures of graphs by stream: which streams take part, what events join, and what the driver refuses meanwhile.

The rules are those of stream capture in the CUDA programming guide and of `cudaStreamBeginCapture`. A stream of
PyTorch's pool does not block the default one, which therefore goes on as usual beside a capture.
"""

from __future__ import annotations

import threading
from enum import Enum

from . import devices, messages, stream_pools

Stream = tuple[int, int]
"""A device, and the number of a stream of it."""
Moment = dict[Stream, int]
"""How many kernels of each stream come before an event."""


class CaptureMode(Enum):
    """The calls that are refused while a capture is under way: `capture_error_mode`."""

    GLOBAL = "global"
    THREAD_LOCAL = "thread_local"
    RELAXED = "relaxed"


class Capture:
    """A capture that is under way, and the streams that take part."""

    def __init__(self, origin: Stream, mode: CaptureMode) -> None:
        self.origin, self.mode, self.thread = origin, mode, threading.get_ident()
        self.invalid = self.over = False
        self.kernels = 0
        self._moments: dict[Stream, Moment] = {origin: {}}

    def launch(self, stream: Stream) -> None:
        """Count a kernel of a stream that takes part."""
        self.kernels += 1
        moment = self._moments[stream]
        moment[stream] = moment.get(stream, 0) + 1

    def moment(self, stream: Stream) -> Moment:
        """Return what an event stands for that is recorded now."""
        return dict(self._moments[stream])

    def join(self, stream: Stream, earlier: Moment) -> None:
        """Let the further work of a stream come after an event, which makes the stream take part."""
        moment = self._moments.setdefault(stream, {})
        for other, count in earlier.items():
            moment[other] = max(moment.get(other, 0), count)
        _taking_part[stream] = self

    @property
    def unjoined(self) -> bool:
        """True if a stream has work that the first stream did not wait for."""
        last = self._moments[self.origin]
        return any(moment.get(stream, 0) > last.get(stream, 0) for stream, moment in self._moments.items())

    @property
    def streams(self) -> list[Stream]:
        """The streams that take part."""
        return list(self._moments)


_taking_part: dict[Stream, Capture] = {}


def active() -> bool:
    """Return whether any stream takes part in a capture."""
    return bool(_taking_part)


def of(stream: Stream) -> Capture | None:
    """Return the capture that a stream takes part in."""
    return _taking_part.get(stream)


def stream_of(device: int | None = None) -> Stream:
    """Return the current stream of a device in this thread."""
    device = devices.current() if device is None else device
    return device, stream_pools.current(device)


def current(device: int | None = None) -> Capture | None:
    """Return the capture that the current stream of a device takes part in."""
    return _taking_part.get(stream_of(device)) if _taking_part else None


def capturing() -> bool:
    """Return whether the current stream takes part in a capture."""
    return current() is not None


def begin(mode: CaptureMode) -> Capture:
    """Begin a capture on the current stream."""
    origin = stream_of()
    known = of(origin)
    if known is not None:
        raise invalidate(known)
    capture = _taking_part[origin] = Capture(origin, mode)
    return capture


def end(capture: Capture) -> None:
    """End a capture, and raise what the driver finds wrong with it."""
    if capture.mode is not CaptureMode.RELAXED and capture.thread != threading.get_ident():
        text = "attempt to terminate a thread-local capture sequence from another thread"
        raise messages.cuda_error(text, "cudaErrorStreamCaptureWrongThread")
    for stream in capture.streams:
        _taking_part.pop(stream, None)
    capture.over = True
    if capture.invalid:
        raise failure()
    if capture.unjoined:
        raise messages.cuda_error("capturing stream has unjoined work", "cudaErrorStreamCaptureUnjoined")


def failure() -> RuntimeError:
    """Return the error for work in a capture in which something has failed."""
    text = "operation failed due to a previous error during capture"
    return messages.cuda_error(text, "cudaErrorStreamCaptureInvalidated")


def invalidate(*captures: Capture) -> RuntimeError:
    """Invalidate captures, and return the error for what a stream cannot do meanwhile."""
    for capture in captures:
        capture.invalid = True
    return messages.while_capturing()


def place_of_event(stream: Stream) -> tuple[Capture, Moment] | None:
    """Return what an event stands for that is recorded on a stream now: nothing outside of a capture."""
    capture = of(stream)
    if capture is None:
        return None
    if capture.invalid:
        raise failure()
    return capture, capture.moment(stream)


def wait(stream: Stream, event: tuple[Capture, Moment] | None) -> None:
    """Let a stream wait for an event: `cudaStreamWaitEvent`."""
    mine = of(stream)
    if mine is not None and mine.invalid:
        raise failure()
    if event is None:
        if mine is not None:
            mine.invalid = True
            text = "dependency created on uncaptured work in another stream"
            raise messages.cuda_error(text, "cudaErrorStreamCaptureIsolation")
        return
    theirs, moment = event
    if theirs.over:
        return
    if mine is None and theirs.invalid:
        raise messages.cuda_error("invalid argument", "cudaErrorInvalidValue")
    if mine is not None and mine is not theirs:
        mine.invalid = theirs.invalid = True
        text = "operation would result in a merge of separate capture sequences"
        raise messages.cuda_error(text, "cudaErrorStreamCaptureMerge")
    if not stream[1]:
        theirs.invalid = True
        text = "operation would make the legacy stream depend on a capturing blocking stream"
        raise messages.cuda_error(text, "cudaErrorStreamCaptureImplicit")
    theirs.join(stream, moment)


def ask_event(event: tuple[Capture, Moment] | None) -> None:
    """Raise if the host cannot ask or wait for an event: `cudaEventQuery`, `cudaEventSynchronize`."""
    if event is None:
        return _unsafe()
    event[0].invalid = True
    text = "operation not permitted on an event last recorded in a capturing stream"
    raise messages.cuda_error(text, "cudaErrorCapturedEvent")


def ask_stream(stream: Stream) -> None:
    """Raise if the host cannot ask what a stream has done: `cudaStreamQuery`."""
    wait_for_stream(stream)
    _unsafe()


def wait_for_stream(stream: Stream) -> None:
    """Raise if the host cannot wait for a stream: `cudaStreamSynchronize`."""
    capture = of(stream)
    if capture is not None:
        raise invalidate(capture)


def wait_for_device(device: int) -> None:
    """Raise if the host cannot wait for a device, of which a stream takes part in a capture."""
    found = {id(capture): capture for (owner, _), capture in _taking_part.items() if owner == device}
    if found:
        raise invalidate(*found.values())


def _unsafe() -> None:
    """Raise where a call is refused that the driver counts as potentially unsafe."""
    if not _taking_part:
        return
    me = threading.get_ident()
    hit = {id(one): one for one in _taking_part.values() if one.mode is CaptureMode.GLOBAL
           or (one.mode is CaptureMode.THREAD_LOCAL and one.thread == me)}  # fmt: skip
    if hit:
        raise invalidate(*hit.values())


def assert_none(attempt: str) -> None:
    """Raise PyTorch's error if the current stream takes part in a capture (ATen/cuda/CUDAGraphsUtils.cuh)."""
    capture = current()
    if capture is not None:
        status = "Invalidated" if capture.invalid else "Active"
        text = f"{attempt} during CUDA graph capture. If you need this call to be captured, please file an issue. "
        raise RuntimeError(f"{text}Current cudaStreamCaptureStatus: cudaStreamCaptureStatus{status}")


def reset() -> None:
    """Forget all captures."""
    _taking_part.clear()
