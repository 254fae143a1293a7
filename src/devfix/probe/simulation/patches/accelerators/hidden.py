"""Hide a Mac's GPU, or Intel's, from a program: PyTorch answers as where its build has them and the machine has not.

CUDA's driver has a variable for that (real_gpus.py). The errors are those of `empty_mps` in ATen/mps/EmptyTensor.cpp,
and of `device_count_ensure_non_zero` in c10/xpu/XPUFunctions.cpp. No driver is asked, which would start it: what the
build supports is hidden, whether there is a device or not.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.backends.mps

from ... import hooks
from ...accelerators import messages
from ...dispatcher import dispatch
from ...patching import replace, undo_with

_SAID = {
    "mps": "The MPS backend is supported on macOS 14.0+. Current OS version can be queried using `sw_vers`",
    "xpu": "No XPU devices are available.",
}
_hidden: set[str] = set()


class _Refusing(dispatch.World):
    """The world's mode where a device is hidden.

    C++ makes tensors on MPS without asking Python, and on XPU once it was used, so their operators are refused.
    """


def install(simulated: str = "") -> None:
    """Hide the devices that this build supports, but for the kind that the world simulates."""
    for name, is_built, hide in (
        ("mps", torch.backends.mps.is_built(), _hide_mps),
        ("xpu", torch.xpu._is_compiled(), _hide_xpu),
    ):
        if is_built and name != simulated:
            _hidden.add(name)
            hide()
    undo_with(_hidden.clear)


def mode() -> dispatch.World:
    """Return a mode for the world, which refuses what is hidden."""
    return _Refusing() if _hidden else dispatch.World()  # type: ignore[no-untyped-call]


def _hide_mps() -> None:
    replace(torch.backends.mps, "is_available", lambda: False)
    replace(torch._C, "_mps_is_available", lambda: False)
    # `getAccelerator` in ATen/DeviceAccelerator.cpp asks `hasMPS`, which is whether there is one.
    replace(torch._C, "_accelerator_getAccelerator", _no_accelerator)
    replace(torch._C, "_get_accelerator", lambda check=None: torch.device("cpu"))


def _no_accelerator() -> None:
    if messages.VERSION < (2, 7):
        raise RuntimeError("Cannot access accelerator device when none is available.")


def _hide_xpu() -> None:
    replace(torch.xpu, "is_available", lambda: False)
    replace(torch.xpu, "device_count", lambda: 0)
    replace(torch._C, "_xpu_getDeviceCount", lambda: 0)
    replace(torch.xpu, "_initialized", False)
    replace(torch.xpu, "_lazy_init", _refuse_xpu)  # C++ calls it before the first tensor is made there


def _refuse_xpu() -> None:
    raise RuntimeError(_SAID["xpu"])


def _dispatch(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """Run one operator, unless it asks for a tensor on a hidden device."""
    device = kwargs.get("device") if kwargs else None
    if device is not None and (name := torch.device(device).type) in _hidden:
        error = RuntimeError(_SAID[name])
        hooks.failed(error, func, args, kwargs)
        raise error
    return dispatch.dispatch(self, func, types, args, kwargs)


_Refusing.__torch_dispatch__ = _dispatch  # type: ignore[method-assign]
