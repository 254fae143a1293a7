"""PyTorch disables all dispatch modes to print a tensor; simulated tensors need theirs to be read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch.utils._python_dispatch as python_dispatch

from ... import modes
from ...patching import wrap


def _keeping(original: Any) -> Any:
    @contextmanager
    def disable_current_modes() -> Iterator[Any]:
        with original() as found, modes.enter_mode():
            yield found

    return disable_current_modes


def install() -> None:
    """Keep the world's mode enabled where PyTorch disables all others."""
    wrap(python_dispatch, "_disable_current_modes", _keeping)
