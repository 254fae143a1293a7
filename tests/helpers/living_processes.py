"""Whether processes are alive."""

from __future__ import annotations

import os
from pathlib import Path


def living(mark: str) -> list[str]:
    """The processes, zombies aside, whose command line or environment has the mark."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                if mark.encode() in (folder / "cmdline").read_bytes() + (folder / "environ").read_bytes():
                    found.append((folder / "cmdline").read_bytes().decode())
            except OSError:
                continue
    return found
