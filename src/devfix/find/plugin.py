"""Provide pytest's plugin to the interpreter of the tests, which need not have devfix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import devfix
from devfix.process import child_environment, run

_ASK = "from importlib.metadata import entry_points; print(len(entry_points(group='pytest11', name='devfix-gpus')))"
_NAME = "devfix.pytest_gpus.plugin"


@dataclass(frozen=True)
class Plugin:
    """Words that load the plugin, and the folder to import it from where it is not installed."""

    words: Sequence[str] = ()
    overlay: Path | None = None


def plugin_for(python: Path, scratch: Path) -> Plugin:
    """Return how an interpreter loads the plugin: by its own entry point, else from a folder with devfix."""
    done = run((str(python), "-c", _ASK), scratch, child_environment(), timeout=60)
    if done.stdout.strip() not in ("", "0"):
        return Plugin()
    overlay = scratch / "plugin"
    overlay.mkdir()
    (overlay / "devfix").symlink_to(Path(devfix.__file__).parent, target_is_directory=True)
    return Plugin(("-p", _NAME), overlay)
