"""Operators without an MPS kernel, which raise, or run on the CPU where `PYTORCH_ENABLE_MPS_FALLBACK` asks for it.

native_functions.yaml says which kernels MPS has; what it has not goes to `mps_error_fallback` or to `mps_fallback` in
ATen/mps/MPSFallback.mm, which read the variable once, as the library is loaded.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

import torch

from .. import hooks
from ..accelerators import devices, kinds, mps_composites
from ..operator_tables import policy
from ..operator_tables.plans import plan_of, special
from ..tensors import unwrapping

_VARIABLE = "PYTORCH_ENABLE_MPS_FALLBACK"
# MPSFallback.mm lets these run on the CPU in any case; PyTorch decomposes some of them before the world sees them.
_ALWAYS_ON_CPU = frozenset(("embedding_renorm_", "col2im", "upsample_nearest3d"))
_warned: set[str] = set()


@special("*missing")
def run_missing(plan: Any, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run an operator on tensors of the host only, or as the variable says."""
    _, _, gpu = unwrapping.unwrap_all(args, kwargs)
    if gpu in (None, -1) and not _names_device(kwargs):
        return _as_usual(plan, func, args, kwargs)
    name = func._schema.name.removeprefix("aten::")
    if not _runs_on_cpu(name) and not _may_fall_back():
        raise not_implemented(policy.reported_name(func._schema))
    if func._schema.name not in _warned:
        _warned.add(func._schema.name)
        text = "is not currently supported on the MPS backend and will fall back to run on the CPU."
        shown = "aten::linalg_svd" if name == "_linalg_svd" else policy.reported_name(func._schema)
        warnings.warn(f"The operator '{shown}' {text} This may have performance implications.", stacklevel=3)
    return _as_usual(plan, func, args, kwargs)


def _runs_on_cpu(name: str) -> bool:
    """Return whether an operator runs on the CPU without the variable."""
    return name in _ALWAYS_ON_CPU or (name == "_linalg_svd" and mps_composites.is_decomposing())


def not_implemented(name: str) -> NotImplementedError:
    """Return the error for an operator without an MPS kernel; the commit of the build is left out."""
    ask = "If you want this op to be considered for addition please comment on"
    use = "and mention use-case, that resulted in missing op as well as commit hash"
    way = f"As a temporary fix, you can set the environment variable `{_VARIABLE}=1` to use the CPU as a fallback"
    return NotImplementedError(
        f"The operator '{name}' is not currently implemented for the MPS device. {ask} "
        f"https://github.com/pytorch/pytorch/issues/141287 {use} {torch.version.git_version}. {way} for this op. "
        "WARNING: this will be slower than running natively on MPS."
    )


def _may_fall_back() -> bool:
    text = os.environ.get(_VARIABLE, "")
    return text.strip().lstrip("+-").isdecimal() and int(text) != 0


def _names_device(kwargs: dict[str, Any]) -> bool:
    device = kwargs.get("device") if devices.installed_gpus() else None  # a real one answers for itself
    return device is not None and torch.device(device).type in ("lazy", kinds.now().name)


def _as_usual(plan: Any, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run an operator on the values of its tensors; on several devices too, as on the CPU that it falls back to."""
    if plan.usual is not None:
        return plan.usual(plan, func, args, kwargs)
    cells, keywords, gpu = unwrapping.unwrap_all(args, kwargs)
    result = plan.op(*cells, **keywords)
    if gpu not in (None, -1):
        result = unwrapping.rewrap(plan_of(func), result, args, kwargs, 0)
    hooks.on_created(result, func, args, kwargs)
    return result
