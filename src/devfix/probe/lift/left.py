"""Modules that a lift leaves where test code has put them: in tests that say themselves where their tensors lie.

Their author has run them on a GPU, and moved what has to be moved. A module without parameters is called by many as a
function is, without a move, and its buffers are on the host then. Lifted to the second GPU, such a module of the code
under test stays; lifted to the first, it moves like every other.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from . import devices
from .whose import Whose, kind_of

_FRAMES = 60  # that are searched for test code


class _Order:
    wanted = False


def _was_not_told(tensor: Any) -> bool:
    return False


was_told_gpu: Callable[[Any], bool] = _was_not_told  # of a tensor of the host; see `boundaries`


def install(is_wanted: bool) -> None:
    """Leave modules where they are from now on, or move all."""
    _Order.wanted = is_wanted


def stays(module: Any) -> bool:
    """Return whether a module of a call of test code stays where it is."""
    if is_partly_placed(module):
        return True
    if not _Order.wanted or "_parameters" not in vars(module) or next(module.parameters(), None) is not None:
        return False
    code = getattr(type(module).forward, "__code__", None)
    return code is not None and kind_of(code) == Whose.CODE and _says_device(sys._getframe(1))


def is_partly_placed(module: Any) -> bool:
    """Return whether a module has tensors on a GPU, and was told to make others there that are on the host.

    Nobody moves a module that he has had made where he wants it.
    """
    held = [*module.parameters(), *module.buffers()] if "_parameters" in vars(module) else []
    on_host = [each for each in held if each.device.type == "cpu"]
    return 0 < len(on_host) < len(held) and any(map(was_told_gpu, on_host))


def _says_device(frame: FrameType | None) -> bool:
    """Return whether the test that runs has a GPU at hand as the device for its tensors."""
    for _ in range(_FRAMES):
        if frame is None:
            return False
        if kind_of(frame.f_code) == Whose.TEST and any(map(_is_gpu, _at_hand(frame))):
            return True
        frame = frame.f_back
    return False


def _at_hand(frame: FrameType) -> Iterator[Any]:
    """Yield what a function of a test has named: its variables, the device of its object, and globals that it uses."""
    yield from frame.f_locals.values()
    yield getattr(frame.f_locals.get("self"), "device", None)
    yield from (frame.f_globals[name] for name in frame.f_code.co_names if name in frame.f_globals)


def _is_gpu(value: Any) -> bool:
    return devices.names_gpu(value.get("device") if type(value) is dict else value)
