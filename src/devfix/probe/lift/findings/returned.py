"""Results on the host that a call of test code returns, though it was given tensors on a GPU alone: test code may look
at their shape alone, which no operator shows.

A call is watched from the moment at which the code under test makes a tensor of the host in it, by a trace function
that hears of its return alone; before that, and in calls that make none, nothing is traced.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from ...provenance import records
from ...simulation.patching import undo_with
from .. import boundaries, words
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
    for each in tree_leaves(value):
        creation = boundaries.result_creation(each) if isinstance(each, torch.Tensor) else None
        if creation is None or each.device.type != "cpu" or each.dim() == 0 or creation.token != boundaries.token(call):
            continue
        moment = records.creation_moment(each)
        is_kept = moment is not None and kept.anywhere(moment) is not None
        if is_kept or words.counts_sizes(creation.path, creation.line):
            continue
        if silent.note_result(creation) and silent.is_strict():
            silent.fail(creation.call.name, each)


def install() -> None:
    """Watch calls from now on."""
    before, boundaries.watch = boundaries.watch, _watch

    def restore() -> None:
        boundaries.watch = before

    undo_with(restore)
