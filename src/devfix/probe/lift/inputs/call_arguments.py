"""Arguments on the host of a module that test code has on the GPU, which an earlier call has made: moved for the call.

Whoever moves his model moves what a helper of the library draws for it: a packed sequence, a batch, with the indices in
it. What a call has left on the host although it was given tensors on a GPU stays there, and is a finding.
"""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch.nn.utils.rnn import PackedSequence
from torch.utils._pytree import tree_leaves, tree_map

from ...simulation.patching import undo_with
from .. import boundaries, devices, modules
from ..given import Given
from . import mixtures


def _move_arguments(module: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """Return the arguments of a module's call as its author would pass them on a GPU."""
    if not any(map(_is_left, tree_leaves((args, kwargs), is_leaf=_is_packed))):
        return args, kwargs
    if {each.device for each in modules.tensors_of(module)} != {devices.target()}:
        return args, kwargs
    mixtures.note_callback(sys._getframe(1))
    return tree_map(_move, args, is_leaf=_is_packed), tree_map(_move, kwargs, is_leaf=_is_packed)


def _is_packed(value: Any) -> bool:
    return isinstance(value, PackedSequence)


def _move(value: Any) -> Any:
    return value.to(devices.target()) if _is_left(value) else value  # which keeps the sizes of packed ones on the host


def _is_left(value: Any) -> bool:
    """Return whether a value is on the host as a call has made it that was given nothing on a GPU."""
    tensor = value.data if isinstance(value, PackedSequence) else value
    if not isinstance(tensor, torch.Tensor) or tensor.device.type != "cpu" or tensor.dim() == 0:
        return False
    creation = boundaries.creation_of(tensor)
    if creation is None or creation.given == Given.GPU or creation.is_chosen:
        return False
    owner = None if creation.owner is None else creation.owner()
    return owner is None or not modules.was_moved(owner)


def install() -> None:
    """Move arguments from now on."""
    before, modules.arguments_for = modules.arguments_for, _move_arguments

    def restore() -> None:
        modules.arguments_for = before

    undo_with(restore)
