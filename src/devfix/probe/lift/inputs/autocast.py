"""`torch.autocast("cpu")` in test code: its author would cast on the GPU, where the tensors of the tests lie."""

from __future__ import annotations

from typing import Any

import torch

from ...simulation.accelerators import kinds
from ...simulation.patching import wrap
from ..whose import works_for_test


def _set_for_both(original: Any) -> Any:
    """Let what test code sets for the host hold on the GPU, too; TorchScript compiles the context manager itself."""

    def set_autocast(device_type: Any, *value: Any) -> None:
        original(device_type, *value)
        if device_type == "cpu" and works_for_test(1):
            original(kinds.now().name, *value)

    return set_autocast


def install() -> None:
    """Patch what the context manager calls as it begins and ends."""
    for name in ("set_autocast_enabled", "set_autocast_dtype"):
        wrap(torch, name, _set_for_both)
