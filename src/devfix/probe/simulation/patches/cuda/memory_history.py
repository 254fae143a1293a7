"""The history of memory: what was taken and given back, and where, as `torch.cuda.memory._snapshot` shows it."""

from __future__ import annotations

import sys
import time
from collections import deque
from pathlib import Path
from typing import Any

from ...accelerators import devices
from ...tensors import memory_peaks
from ..accelerators import memory

_PROBE = str(Path(__file__).parents[3])
_STATES = ("state", "all")
_CONTEXTS = ("state", "alloc", "all")
_STACKS = ("python", "all")


class History(memory_peaks.Listener):
    """Events and frames since `_record_memory_history` was called."""

    def __init__(self) -> None:
        self.enabled: Any = None
        self.context: Any = None
        self.skipped: tuple[str, ...] = ()
        self.events: list[deque[dict[str, Any]]] = []
        self.frames: dict[int, list[dict[str, Any]]] = {}

    def note_taken(self, block: memory_peaks.Block) -> None:
        """Record an allocation."""
        frames = _frames() if self.context else []
        self.frames[block.address] = frames
        self._add("alloc", block, frames if self.context in _CONTEXTS[1:] else [])

    def note_given_back(self, block: memory_peaks.Block) -> None:
        """Record that memory was given back, which is complete at once."""
        self.frames.pop(block.address, None)
        frames = _frames() if self.context == "all" else []
        for action in ("free_requested", "free_completed"):
            self._add(action, block, frames)

    def _add(self, action: str, block: memory_peaks.Block, frames: list[dict[str, Any]]) -> None:
        if self.enabled == "all" and block.size and action not in self.skipped:
            self.events[block.gpu].append({
                "action": action, "addr": block.address, "size": block.size, "stream": 0,
                "time_us": time.time_ns() // 1000, "compile_context": "N/A", "user_metadata": "", "frames": frames,
            })  # fmt: skip


def _frames() -> list[dict[str, Any]]:
    """Return the frames of the program, the innermost first."""
    found, frame = [], sys._getframe(2)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(_PROBE):
            found.append({"filename": file, "line": frame.f_lineno, "name": frame.f_code.co_name})
        frame = frame.f_back  # type: ignore[assignment]
    return found


_now = History()


def record(
    enabled: Any = "all", context: Any = "all", stacks: str = "all", max_entries: int = sys.maxsize,
    clear_history: bool = False, compile_context: bool = False, global_record_annotations: bool = False,
    skip_actions: Any = (), record_pinned_host_memory: bool = False, record_cuda: bool = True,
) -> None:  # fmt: skip
    """Record from here on, or no longer: `_record_memory_history` in torch/csrc/cuda/memory_snapshot.cpp.

    The last two are of 2.14; pinned memory has no history here.
    """
    if enabled and enabled not in _STATES:
        raise RuntimeError("expected state to be 'state', 'all', or None")
    if context and context not in _CONTEXTS:
        raise RuntimeError("expected context to be 'state', 'alloc', 'all', or None")
    if stacks not in _STACKS:
        raise RuntimeError("expected stacks to be 'python', or 'all'")
    devices.use()
    _now.enabled, _now.context, _now.skipped = enabled, context, tuple(skip_actions or ())
    kept = [] if clear_history else _now.events
    size = None if max_entries >= sys.maxsize else max_entries
    _now.events = [deque(kept[gpu] if gpu < len(kept) else (), size) for gpu in range(devices.count())]
    if _now in memory_peaks.listeners:
        memory_peaks.listeners.remove(_now)
    if enabled and record_cuda:
        memory.follow()
        memory_peaks.listeners.append(_now)


def record_by_flag(enabled: bool, record_context: bool = True, max_entries: int = 1, *args: Any) -> None:
    """Record as older programs ask for it."""
    record("all" if enabled else None, "all" if record_context else None, "all", max_entries)


def is_enabled() -> bool:
    """Return whether anything is recorded."""
    return _now.enabled is not None


def traces() -> list[list[dict[str, Any]]]:
    """Return what was recorded, by GPU."""
    return [list(_now.events[gpu]) if gpu < len(_now.events) else [] for gpu in range(devices.count())]


def frames_of(address: int) -> list[dict[str, Any]]:
    """Return where memory was taken, if that was recorded."""
    return _now.frames.get(address, [])


def install() -> None:
    """Begin with no history."""
    _now.__init__()  # type: ignore[misc]
