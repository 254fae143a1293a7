"""Results on the host that a call of test code returns, though it was given tensors on a GPU alone: test code may look
at their shape alone, which no operator shows.

A call is watched from the moment at which the code under test makes a tensor of the host in it, by a trace function
that hears of its return alone; before that, and in calls that make none, nothing is traced.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import torch
from torch.nn.parameter import is_lazy
from torch.utils._pytree import tree_leaves

from ...provenance import records
from ...simulation.patching import undo_with
from .. import boundaries, devices, modules, words
from . import kept, silent


def _watch(call: FrameType) -> None:
    """Look at what a call returns; nobody hears of it where somebody else traces the test."""
    if sys.gettrace() is not None or torch.compiler.is_compiling():
        return

    def hear(frame: FrameType, event: str, value: Any) -> Any:
        if event == "return":
            sys.settrace(None)
            frame.f_trace = None
            _look(frame, value)
        return hear

    call.f_trace, call.f_trace_lines = hear, False
    sys.settrace(_ignore)


def _ignore(frame: FrameType, event: str, value: Any) -> None:
    """Trace no call that begins while one is watched."""


def _look(call: FrameType, value: Any) -> None:
    """Note the tensors of a result that the call has made on the host; a number works with tensors anywhere."""
    for each in _tensors(value):
        creation = boundaries.result_creation(each)
        if creation is None or each.device.type != "cpu" or each.dim() == 0 or creation.token != boundaries.token(call):
            continue
        moment = records.creation_moment(each)
        is_kept = moment is not None and kept.anywhere(moment) is not None
        if is_kept or words.counts_sizes(creation.path, creation.line):
            continue
        if silent.note_result(creation) and silent.is_strict():
            silent.fail(creation.call.name, each)


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    """Yield the tensors of a result, and those of a module in it that is on a GPU in part.

    One that is wholly on the host its user moves, and one that test code has made the lift: with what was added.
    """
    for each in tree_leaves(value):
        if isinstance(each, torch.Tensor):
            yield each
        elif isinstance(each, torch.nn.Module) and not modules.was_moved(each):
            held = [tensor for tensor in modules.tensors_of(each) if not is_lazy(tensor)]
            if any(map(devices.is_on_gpu, held)):
                yield from held


def install() -> None:
    """Watch calls from now on."""
    before, boundaries.watch = boundaries.watch, _watch

    def restore() -> None:
        boundaries.watch = before

    undo_with(restore)
