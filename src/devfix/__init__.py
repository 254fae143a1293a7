"""Find, prove and fix the bugs in which PyTorch tensors meet on different devices."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from devfix.model import Report
    from devfix.pipeline.repair import repair

__all__ = ["Report", "__version__", "repair"]


def __getattr__(name: str) -> Any:
    # Loaded when asked for: whoever imports one part of devfix should not pay for LibCST and the rest.
    if name == "repair":
        from devfix.pipeline.repair import repair

        return repair
    if name == "Report":
        from devfix.model import Report

        return Report
    if name == "__version__":
        try:
            return version("devfix")
        except PackageNotFoundError:
            return "0+unknown"
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
