"""Let the programs that a forked program starts be forked too, by the server of which this process is a child."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))
_RELAY = os.path.join(_HERE, "relay.py")
_ENTRY = os.path.join(os.path.dirname(_HERE), "entry")
# Arguments of `Popen._execute_child`, and the values with which a forked program is what a new interpreter would be.
_PLAIN = {
    "executable": None,
    "preexec_fn": None,
    "close_fds": True,
    "pass_fds": (),
    "shell": False,
    "p2cread": -1,
    "gid": None,
    "gids": None,
    "uid": None,
    "umask": -1,
    "start_new_session": False,
    "process_group": -1,
}


def install(control: int, read_at_start: str) -> None:
    """Have `subprocess` start `python script.py …` and `python -m module …` through the server behind `control`.

    A relay takes the place of the new interpreter: it asks the server for the program, and ends as that does. Programs
    whose environment an interpreter would read otherwise when it starts (the names match `read_at_start`), and those
    that are given more than arguments, a folder, an environment and streams to write to, get a new interpreter.
    """
    plain = subprocess.Popen._execute_child  # type: ignore[attr-defined]
    signature, own = inspect.signature(plain), dict(os.environ)
    fixed = re.compile(read_at_start)

    def start(*positional: Any, **named: Any) -> None:
        bound = signature.bind(*positional, **named)
        given = bound.arguments
        words = _forked_words(given)
        if words is not None and _starts_alike(given["env"], own, fixed):
            given["args"] = [sys.executable, "-I", "-S", _RELAY, str(control), *words]
            given["pass_fds"] = (control,)
        plain(*bound.args, **bound.kwargs)

    subprocess.Popen._execute_child = start  # type: ignore[attr-defined]


def _forked_words(given: Mapping[str, Any]) -> list[str] | None:
    """Return the words after the interpreter; None if the server cannot run them as a new interpreter would."""
    args = given["args"]
    if not isinstance(args, Sequence) or isinstance(args, (str, bytes)) or len(args) < 2:
        return None
    words = [os.fspath(word) for word in args if isinstance(word, (str, os.PathLike))]
    if len(words) < len(args) or words[0] != sys.executable or not all(isinstance(word, str) for word in words):
        return None
    if any(given.get(name, value) != value for name, value in _PLAIN.items()):
        return None
    if words[1] == "-m":
        # The server has imported torch already; pytest has to be imported in the world of its own tests.
        is_own = len(words) > 2 and words[2].partition(".")[0] not in ("torch", "pytest")
    else:
        is_own = words[1].endswith(".py")
    return words[1:] if is_own else None


def _starts_alike(given: Mapping[Any, Any] | None, own: Mapping[str, str], fixed: re.Pattern[str]) -> bool:
    """Return whether an interpreter would read the same of an environment as this process did when it started."""
    environment = os.environ if given is None else given
    if not all(isinstance(word, str) for pair in environment.items() for word in pair):
        return False
    for name in {*environment, *own} - {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE"}:
        if fixed.fullmatch(name) and environment.get(name) != own.get(name):
            return False
    folders = [entry for entry in environment.get("PYTHONPATH", "").split(os.pathsep) if entry]
    return not any(
        os.path.realpath(folder) != os.path.realpath(_ENTRY)
        and any(os.path.exists(os.path.join(folder, f"{name}.py")) for name in ("sitecustomize", "usercustomize"))
        for folder in folders
    )
