"""List the releases of a distribution, and install one of them into a folder of its own."""

from __future__ import annotations

import re
from pathlib import Path

from packaging.version import InvalidVersion, Version

from devfix.process import child_environment, run

PATIENCE = 300.0  # seconds for pip to answer or install


def releases(python: Path, name: str) -> list[str]:
    """Return the final releases of a distribution that the interpreter's pip can install, newest first; [] if none."""
    command = [str(python), "-m", "pip", "index", "versions", name, "--disable-pip-version-check"]
    done = run(command, Path("/"), _environment(), PATIENCE)
    match = re.search(r"^Available versions:\s*(.+)$", done.stdout, re.MULTILINE)
    versions = [_version(each) for each in match[1].split(",")] if match else []
    return [str(each) for each in sorted((each for each in versions if each), reverse=True) if not each.is_prerelease]


def install(python: Path, name: str, version: str, folder: Path) -> str:
    """Install one release without its dependencies into `folder`; return "" or one line saying why it failed."""
    options = ["--quiet", "--no-deps", "--no-compile", "--disable-pip-version-check", "--target", str(folder)]
    command = [str(python), "-m", "pip", "install", *options, f"{name}=={version}"]
    done = run(command, Path("/"), _environment(), PATIENCE)
    if done.exit_code == 0:
        return ""
    said = (done.internal_error or done.stderr).strip().splitlines()
    return said[-1] if said else "pip failed and said nothing"


def _environment() -> dict[str, str]:
    return {**child_environment(), "PYTHONIOENCODING": "utf-8"}  # pip's output is decoded as UTF-8


def _version(text: str) -> Version | None:
    try:
        return Version(text.strip())
    except InvalidVersion:
        return None
