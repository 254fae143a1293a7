"""Digest what runs of cases depend on beside the program: the interpreter, its packages, devfix, the environment."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from devfix.errors import UserError
from devfix.process import child_environment
from devfix.process import run as run_program

# What makes a run: `devfix.execution` and all that it imports (tests/rule_testing/test_fingerprint.py), and the probe.
# A change of the rule API or of the verdict needs no new run, since both are computed of the recorded ones.
PARTS = (
    *("decoding.py", "errors.py", "execution", "model", "notebooks", "notes.py", "probe", "process", "progress.py"),
    "trace",
)
SECONDS = 60.0
_DEVFIX = Path(__file__).parents[2]
_INSTALLED = Path(__file__).with_name("installed.py")
# Variables of a terminal or a desktop, which differ between two windows and decide nothing in a program of a page.
_OF_A_SESSION = re.compile(
    r"_|PWD|OLDPWD|SHLVL|COLUMNS|LINES|TERM\w*|COLORTERM|PS\d|PROMPT\w*|DISPLAY|WINDOWID|WAYLAND_\w+|TMUX\w*|STY|"
    r"SSH_\w+|DBUS_\w+|XDG_\w+|VSCODE_\w+|ITERM_\w+|KITTY_\w+|WEZTERM_\w+|PYTEST_\w+|INVOCATION_ID|JOURNAL_STREAM"
)


def fingerprint(python: Path) -> str:
    """Return a digest of an interpreter's packages and its build of torch, of devfix, and of the environment.

    Raises UserError if the interpreter has no torch.
    """
    lines = [installed_packages(python), *(f"{name}={value}" for name, value in sorted(_variables().items()))]
    digest = hashlib.blake2b("\n".join(lines).encode("utf-8", "surrogateescape"), digest_size=20)
    for part in PARTS:
        path = _DEVFIX / part
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(str(file.relative_to(_DEVFIX)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def installed_packages(python: Path) -> str:
    """Return what is installed for an interpreter. Raises UserError unless that has torch, which cases need."""
    command = (str(python), "-c", _INSTALLED.read_text("utf-8"))
    done = run_program(command, Path("/"), child_environment(), SECONDS)
    if done.exit_code != 0 or done.stdout.startswith("no torch"):
        why = done.internal_error or "it has no torch, which rules' cases need"
        raise UserError(f"{python}: {why}; name an interpreter that has it: --python PATH")
    return done.stdout


def _variables() -> Mapping[str, str]:
    """Return the variables that a program sees, without those of the terminal."""
    return {name: value for name, value in child_environment().items() if not _OF_A_SESSION.fullmatch(name)}
