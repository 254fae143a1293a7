"""Say in one line what a benchmark needs and does not find."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = {"transformers": "programs"}  # of pyproject.toml; what is not named here comes with `dev`
_LOOK = "import sys, importlib.util as u; print(*(n for n in sys.argv[1:] if u.find_spec(n) is None))"


def need(*modules: str) -> None:
    """Exit with a line that says what to install where this interpreter lacks one of the modules."""
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        extras = ",".join(sorted({"dev", *(EXTRAS.get(name, "dev") for name in missing)}))
        _end(missing, sys.executable, f"--editable '{ROOT}[{extras}]'")


def need_in(python: str, modules: Iterable[str]) -> None:
    """Exit with a line that says what to install where another interpreter is missing or lacks one of the modules."""
    if shutil.which(python) is None:
        sys.exit(f"{Path(sys.argv[0]).name}: {python} is no interpreter: make the environment, or name another")
    done = subprocess.run([python, "-c", _LOOK, *modules], capture_output=True, text=True, check=True)
    if missing := done.stdout.split():
        _end(missing, python, " ".join(missing))


def _end(missing: list[str], python: str, what: str) -> None:
    sys.exit(f"{Path(sys.argv[0]).name} needs {', '.join(missing)}: {python} -m pip install {what}")
