"""The wheel of devfix, installed."""

from __future__ import annotations

import subprocess
import sys
import venv
from collections.abc import Collection
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def tracked(folder: Path) -> Path:
    """Copy what git knows of the repository, as a clone would."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    for name in filter(None, listed):
        if (ROOT / name).is_file() and not name.startswith(("corpus/", "tests/")):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((ROOT / name).read_bytes())
    return folder


def without_devfix(folder: Path, lacking: Collection[str] = ()) -> Path:
    """Make an environment that borrows this one's packages but devfix and those `lacking`; return its interpreter."""
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    (ours,) = {path for path in map(Path, sys.path) if path.name == "site-packages" and (path / "libcst").is_dir()}
    (theirs,) = folder.glob("lib/python*/site-packages")
    for package in ours.iterdir():  # all but devfix: an editable one would stand in for what is tested
        if "devfix" in package.name or package.name == "__pycache__" or package.suffix == ".pth":
            continue
        if package.name.partition("-")[0].lower() not in lacking:
            (theirs / package.name).symlink_to(package)
    return python


def installed(folder: Path, *arguments: str) -> Path:
    """Make an environment that borrows this one's packages, and install devfix alone into it."""
    python = without_devfix(folder)
    command = [python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return python
