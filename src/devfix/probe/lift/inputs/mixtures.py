"""Operators that test code itself calls with tensors on two devices: its author would have moved one of them.

They are run again with the others on the device, and counted. What the code under test mixes is a finding, and fails,
but for lines whose finding is known: the test goes on there, and shows what it hides.
"""

from __future__ import annotations

import os
import sys
from types import FrameType
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from ...capture import kinds
from ...simulation import hooks, modes
from ...simulation.patching import undo_with
from .. import boundaries, consequences, devices
from ..findings import silent
from ..given import Given
from ..whose import Whose, frames_in_call, frames_of, nearest
from . import generators

_COMPARES = frozenset({"eq", "ne", "equal", "allclose", "isclose"})  # a test looks at what it compares


class Smoothed:
    """The number of operators of test code that were run again, and the lines of findings that are known."""

    count = 0
    past: frozenset[tuple[str, str]] = frozenset()


def again(error: BaseException, func: Any, args: Any, kwargs: Any) -> Any:
    """Run an operator again that has failed, where its author would have seen to it; else `hooks.FAILED`."""
    kind = kinds.kind_of(str(error))
    if kind == "generator-device":
        return _with_twin(func, args, kwargs)
    if kind in kinds.MIXED and Smoothed.past and _is_past(sys._getframe(1)):
        return run_on(_place(args), func, args, kwargs)
    if kind not in kinds.MIXED:
        return hooks.FAILED
    if nearest(sys._getframe(1), past=Whose.PROBE) != Whose.TEST:
        return _with_moved(func, args, kwargs)
    values = tree_leaves((args, kwargs))
    if silent.look(values, is_read=getattr(func, "__name__", "").partition(".")[0] in _COMPARES):
        return hooks.FAILED
    if silent.look_taken(values):
        return hooks.FAILED
    if any(isinstance(each, torch.Tensor) and devices.is_lacking(each.dtype) for each in tree_leaves((args, kwargs))):
        return hooks.FAILED
    note_callback(sys._getframe(1))
    Smoothed.count += 1
    return run_on(_place(args), func, args, kwargs)


def _with_moved(func: Any, args: Any, kwargs: Any) -> Any:
    """Run an operator of the code under test with what the test has handed over moved, as its author would have.

    What an earlier call has left on the host, though it was given tensors on a GPU alone, is a finding of that call.
    """
    frame = sys._getframe(1)
    if not boundaries.handed_over(frame, (args, kwargs)) or silent.look(_of_earlier(frame, (args, kwargs))):
        return hooks.FAILED
    Smoothed.count += 1
    return run_on(_place(args), func, args, kwargs)


def _of_earlier(frame: FrameType, values: Any) -> list[torch.Tensor]:
    """Return the tensors of the host that earlier calls have created, which were given tensors on GPUs alone."""
    call = boundaries.boundary(frame)
    now = None if call is None else boundaries.token(call)
    found = [each for each in tree_leaves(values) if isinstance(each, torch.Tensor) and each.device.type == "cpu"]
    made = [(each, boundaries.creation_of(each)) for each in found]
    return [
        each
        for each, creation in made
        if creation is not None and creation.given == Given.GPU and creation.token != now
    ]


def note_callback(frame: FrameType | None) -> None:
    """Note that a function of the suite moves what it was given on the host, if the code under test has called it.

    That call goes on with results on a GPU, where a user would have given it tensors there.
    """
    suite = next(frames_of(Whose.TEST, frame), None)
    call = boundaries.boundary(next(frames_of(Whose.CODE, suite), None))
    if call is not None:
        boundaries.mixed.add(boundaries.token(call))


def _is_past(frame: FrameType | None) -> bool:
    """Return whether the innermost line of the code under test has a finding that is known."""
    inner = next(frames_in_call(frame), None)
    return inner is not None and (os.path.realpath(inner.f_code.co_filename), str(inner.f_lineno)) in Smoothed.past


def run_on(place: torch.device, func: Any, args: Any, kwargs: Any) -> Any:
    """Run an operator with its tensors on one device, that of what it writes to where it writes to one."""
    place = _written_device(func, args) or place

    def moved(value: Any) -> Any:
        is_strange = isinstance(value, torch.Tensor) and value.device != place
        return value.to(place) if is_strange else value

    with modes.enter_mode(), torch._C.DisableTorchFunctionSubclass():  # which has had its turn
        return func(*tree_map(moved, args), **tree_map(moved, kwargs))


def _place(args: Any) -> torch.device:
    """The GPU that the arguments of an operator lie on."""
    gpus = [each.device for each in tree_leaves(args) if isinstance(each, torch.Tensor) and devices.is_on_gpu(each)]
    return gpus[0] if gpus else devices.target()


def _written_device(func: Any, args: Any) -> torch.device | None:
    schema = getattr(func, "_schema", None)
    is_written = schema is not None and schema.is_mutable and args and isinstance(args[0], torch.Tensor)
    return args[0].device if is_written else None


def _with_twin(func: Any, args: Any, kwargs: Any) -> Any:
    found = False

    def replaced(value: Any) -> Any:
        nonlocal found
        other = generators.twin(value) if isinstance(value, torch.Generator) else None
        found = found or other is not None
        return value if other is None else other

    args, kwargs = tree_map(replaced, args), tree_map(replaced, kwargs)
    if not found:
        return hooks.FAILED
    with modes.enter_mode():
        return func(*args, **kwargs)


def go_past(lines: frozenset[tuple[str, str]]) -> None:
    """Let no test fail by an operator that one of these lines runs on tensors of two devices."""
    Smoothed.past = lines
    consequences.go_past(bool(lines))


def install() -> None:
    """Take the slot until the world is left."""
    before, hooks.again = hooks.again, again

    def restore() -> None:
        hooks.again = before

    undo_with(restore)
