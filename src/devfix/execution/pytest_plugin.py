"""Provide devfix's pytest plugin to the interpreter of the program, which need not have devfix."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from devfix.process import child_environment, run

# Whether pytest loads the plugin by itself, and where it is.
_ASK = """
from importlib.metadata import entry_points
from importlib.util import find_spec
found = find_spec("devfix")
print(len(entry_points(group="pytest11", name="devfix-gpus")), found.origin if found else "")
"""
# Options by which the plugin diagnoses nothing, and a test's marks change its world, or do not.
MARKED, HELD = "marked", "held"
_PACKAGE = Path(__file__).resolve().parents[1]
_NAME = "devfix.pytest_gpus.plugin"
_PLUGINS = "PYTEST_PLUGINS"  # pytest's own variable: it reaches a pytest that a shell or tox starts, too
_OPTION = re.compile(r"(?:^|\s)--(?:lift|gpus|devfix-)")
_LIFT = re.compile(r"(?:^|\s)--lift")


def needs_plugin(command: Sequence[str]) -> bool:
    """Return whether a command gives pytest an option of the plugin.

    >>> needs_plugin(["python", "-m", "pytest", "--lift"]), needs_plugin(["python", "train.py", "--gpus", "2"])
    (True, False)
    """
    return any("pytest" in word for word in command) and any(_OPTION.search(word) for word in command)


def lifts_tests(command: Sequence[str]) -> bool:
    """Return whether a command runs tests lifted: what they create stands for what users pass on a GPU.

    >>> lifts_tests(["python", "-m", "pytest", "--lift"]), lifts_tests(["python", "-m", "pytest", "--gpus", "2"])
    (True, False)
    """
    return needs_plugin(command) and any(_LIFT.search(word) for word in command)


@dataclass(frozen=True)
class PluginFolder:
    """The folder from which an interpreter imports the plugin; pytest is told of it unless it `is_known` already."""

    path: Path
    is_known: bool = False


def plugin_folder(python: Path, scratch: Path) -> PluginFolder | None:
    """Create the folder from which an interpreter imports the plugin; None where it has this very plugin itself.

    Another devfix there, of another version, would not understand the probe of this one.
    """
    done = run((str(python), "-c", _ASK), scratch, child_environment(), timeout=60)
    count, _, origin = done.stdout.strip().partition(" ")
    is_known = count not in ("", "0")
    if is_known and origin and Path(origin).resolve().parent == _PACKAGE:
        return None
    return PluginFolder(import_folder(scratch), is_known)


def import_folder(scratch: Path) -> Path:
    """Create a folder from which an interpreter without devfix can import this devfix and nothing else."""
    folder = scratch / "devfix"
    folder.mkdir(exist_ok=True)
    with suppress(FileExistsError):
        (folder / "devfix").symlink_to(_PACKAGE, target_is_directory=True)
    return folder


def with_plugin(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which pytest loads the plugin, beside those that it names already."""
    named = ",".join(filter(None, (environment.get(_PLUGINS), _NAME)))
    return {**environment, _PLUGINS: named}
