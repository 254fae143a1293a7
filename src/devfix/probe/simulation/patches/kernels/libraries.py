"""Custom operators: kernels that are registered later count too."""

from __future__ import annotations

from typing import Any

import torch

from ...operator_tables import plans
from ...patching import wrap


def _implementing(original: Any) -> Any:
    def impl(self: Any, op_name: Any, fn: Any, dispatch_key: str = "", **kwargs: Any) -> Any:
        done = original(self, op_name, fn, dispatch_key, **kwargs)
        if (dispatch_key or self.dispatch_key) in plans.own_keys():
            name = op_name if isinstance(op_name, str) else op_name._name
            plans.forget(name if "::" in name else f"{self.ns}::{name}")
        return done

    return impl


def install() -> None:
    """Patch the registration of kernels."""
    wrap(torch.library.Library, "impl", _implementing)
