"""Find, prove and fix the bugs in which PyTorch tensors meet on different devices."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from devfix.model import Report

__all__ = ["Report", "__version__", "repair"]


def repair(path: str | Path, *, progress: Callable[[str], None] | None = None, **options: Any) -> Report:
    """Find, prove and fix the device failures of the program in the repository at `path`.

    `options` are the fields of `devfix.pipeline.RepairOptions`, a `world` also by its name ("simulated"). `progress` is
    told each step as it begins. Raises UserError for wrong usage, before anything is run.
    """
    # Loaded on demand: importing one part of devfix should not load LibCST and the rest.
    from devfix import pipeline
    from devfix.model import WorldChoice

    if "world" in options:
        options["world"] = WorldChoice(options["world"])
    return pipeline.repair(path, pipeline.RepairOptions(**options), progress)


def __getattr__(name: str) -> Any:
    if name == "Report":
        from devfix.model import Report

        return Report
    if name == "__version__":
        try:
            return version("devfix")
        except PackageNotFoundError:
            return "0+unknown"
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
