"""Hide the real GPUs of a machine from CUDA's driver, while the program sees its original environment.

The driver reads the C library's environment, Python a copy made when the interpreter started. Child processes inherit
the former; the entry restores it from `KEPT`.
"""

from __future__ import annotations

import ctypes
import os

from .visible_devices import NAME

KEPT = "DEVFIX_CUDA_VISIBLE_DEVICES"  # "unset", or "set " and the value
_DRIVERS = ("/dev/nvidiactl", "/dev/dxg", "/dev/kfd")


def hide_real_gpus() -> None:
    """Hide them, if the machine has a driver."""
    if any(map(os.path.exists, _DRIVERS)):
        hide()


def hide() -> None:
    """Set the variable for the driver only."""
    value = os.environ.get(NAME)
    _set(KEPT, "unset" if value is None else f"set {value}")
    _set(NAME, "")


def show() -> None:
    """Give the driver the variable that the program sees."""
    value = os.environ.get(NAME)
    library = ctypes.CDLL(None)
    library.unsetenv(KEPT.encode())
    if value is None:
        library.unsetenv(NAME.encode())
    else:
        _set(NAME, value)


def _set(name: str, value: str) -> None:
    ctypes.CDLL(None).setenv(name.encode(), os.fsencode(value), 1)
