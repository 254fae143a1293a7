"""Name the files of the compiled hot paths: one for each interpreter, build of torch and version of the sources."""

from __future__ import annotations

import hashlib
import os
import sys
import sysconfig

SWITCH = "DEVFIX_NATIVE"  # 0: Python alone; a path: this file
SOURCES = os.path.dirname(os.path.abspath(__file__))


def is_possible() -> bool:
    """Return whether this interpreter can have compiled hot paths at all: CPython with a lock, on Linux."""
    return (
        sys.implementation.name == "cpython"
        and sys.platform == "linux"
        and not sysconfig.get_config_var("Py_GIL_DISABLED")
    )


def folder() -> str:
    """Return the folder of compiled files, in the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(cache, "devfix", "native")


def sources() -> list[str]:
    """Return the paths of the source files."""
    return sorted(os.path.join(SOURCES, name) for name in os.listdir(SOURCES) if name.endswith((".h", ".cpp")))


def file_for(torch: str) -> str:
    """Return the path of the file for the torch in a folder, whether or not there is one."""
    parts = [sys.version, sysconfig.get_config_var("SOABI") or ""]
    told = hashlib.sha256("\0".join(parts).encode())
    for path in (os.path.join(torch, "version.py"), *sources()):
        with open(path, "rb") as file:
            told.update(file.read())
    return os.path.join(folder(), f"{told.hexdigest()[:32]}.so")


def is_trusted(path: str) -> bool:
    """Return whether a file, and its folder, can only be written to by this user or the system's."""
    for each in (path, os.path.dirname(path)):
        state = os.stat(each)
        if state.st_uid not in (os.geteuid(), 0) or state.st_mode & 0o022:
            return False
    return True
