"""The device on which test code's tensors lie, and who has asked for another one himself."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._device import DeviceContext
from torch.utils._pytree import tree_leaves, tree_map

from ..simulation.accelerators import kinds

_target: list[torch.device] = []


class _Chosen:
    """The choice of a device by the suite: for a tensor, or to hand one to its tests."""

    by_suite = False


def aim(index: int) -> None:
    """Let test code's tensors lie on this GPU."""
    _target[:] = [torch.device(kinds.now().name, index)]


def note_choice() -> None:
    """Note that the suite chooses where its tensors lie."""
    _Chosen.by_suite = True


def is_chosen() -> bool:
    """Return whether the suite has chosen where its tensors lie."""
    return _Chosen.by_suite


def target() -> torch.device:
    """The device on which they lie."""
    return _target[0]


def is_on_gpu(tensor: torch.Tensor) -> bool:
    """Return whether a tensor is on a GPU of the world, which has those of one kind."""
    return tensor.device.type == target().type


def holds_gpu(value: Any) -> bool:
    """Return whether a value has a tensor on a GPU."""
    return any(isinstance(each, torch.Tensor) and is_on_gpu(each) for each in tree_leaves(value))


def names_gpu(value: Any) -> bool:
    """Return whether a value is the name of a GPU, as a string or a device."""
    if isinstance(value, str):
        return value.partition(":")[0] == target().type
    return isinstance(value, torch.device) and value.type == target().type


def is_lacking(dtype: torch.dtype) -> bool:
    """Return whether the GPUs of the world have no tensors of a dtype."""
    return dtype in kinds.now().absent_dtypes


def has_own_default() -> bool:
    """Return whether somebody has set a default device, or works in the context of one: he chooses himself."""
    for place in range(torch._C._len_torch_function_stack()):
        if isinstance(torch._C._get_function_stack_at(place), DeviceContext):
            return True
    return False


def lift(value: Any) -> Any:
    """Return what a value holds, its tensors of the host moved to the device."""
    return tree_map(lift_tensor, value)


def lift_tensor(value: Any) -> Any:
    """Return a copy on the device of a tensor of the host; anything else as it is."""
    if not isinstance(value, torch.Tensor) or value.device.type != "cpu" or value.is_nested:
        return value
    if not value.is_leaf or not value.requires_grad:
        return value.to(target())
    moved = value.detach().to(target())
    return moved.requires_grad_()
