"""Modules that test code gives to one that has moved, made by the code under test: they are moved, too.

Their author would have done that: a script replaces a layer of a model on a GPU by one that is there.
"""

from __future__ import annotations

from typing import Any

from torch.nn.modules.module import register_module_module_registration_hook

from ...simulation.patching import undo_with
from .. import devices, modules
from ..whose import Whose, asks


def _move_registered(parent: Any, name: str, part: Any) -> None:
    """Move a part that test code hands over, where the whole is on the GPU already."""
    if part is None or not modules.is_on() or asks(1) != Whose.TEST:
        return
    if not devices.has_own_default() and any(map(devices.is_on_gpu, modules.tensors_of(parent))):
        modules.move(part)


def install() -> None:
    """Hear of the parts that modules are given."""
    undo_with(register_module_module_registration_hook(_move_registered).remove)
