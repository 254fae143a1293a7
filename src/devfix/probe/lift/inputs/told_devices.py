"""Calls of the code under test that take a `device`, in a run that tells them the GPU where test code tells nothing.

A user of a GPU names it. What such a call makes without its `device` then stays on the host: a bug that shows in no
test which leaves the device out, for there the call may be right to make everything on the host. The argument is
written as the call begins.
"""

from __future__ import annotations

from types import CodeType, FrameType

from ...simulation.patching import undo_with
from .. import boundaries, constants, devices, left
from ..arguments import is_passed, parameters
from ..device_arguments import NAME
from ..whose import Whose, kind_of
from . import begun_calls

_takes: dict[int, tuple[CodeType, bool]] = {}  # by identity: the hash of a code object is computed each time


def _hear(frame: FrameType) -> None:
    code = frame.f_code
    known = _takes.get(id(code))
    if known is None:
        known = _takes[id(code)] = code, kind_of(code) == Whose.CODE and NAME in parameters(code)
    if known[1]:
        _tell(frame)


def _tell(call: FrameType) -> None:
    """Give a call that test code makes the GPU as its `device`, in the form of its default."""
    value = call.f_locals.get(NAME)
    if str(value) not in ("None", "cpu") or boundaries.boundary(call) is not call or constants.runs_import(call):
        return
    if devices.has_own_default() or (value is not None and is_passed(call, NAME)):
        return
    call.f_locals[NAME] = str(devices.target()) if isinstance(value, str) else devices.target()


def install(is_wanted: bool) -> None:
    """Tell calls the GPU from now on, or leave it; what is told one is not moved in either case."""
    if is_wanted:
        begun_calls.listeners.append(_hear)
    before, left.was_told_gpu = left.was_told_gpu, boundaries.was_told_gpu

    def restore() -> None:
        if is_wanted:
            begun_calls.listeners.remove(_hear)
        left.was_told_gpu = before

    undo_with(restore)
