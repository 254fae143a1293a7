"""The interpreter of the program under repair, and what it has."""

from __future__ import annotations

import json
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from devfix.errors import UserError
from devfix.process import child_environment, run

OLDEST_TORCH = (2, 6)
OLDEST_PYTHON = (3, 10)

# Importing torch takes seconds. Its version and build are in a small file; only where that build could use a GPU and
# the machine shows a driver is torch itself asked how many there are.
_EXAMINE = """
import sys
sys.path[:] = [path for path in sys.path if path]  # no file of the folder at hand stands in for Python's own
import importlib.util, json, os
told = {"python": list(sys.version_info[:3]), "torch": "", "gpus": 0, "pytest": False}
try:
    spec = importlib.util.find_spec("torch")
except (ImportError, ValueError):
    spec = None
told["pytest"] = importlib.util.find_spec("pytest") is not None
if spec is not None and spec.origin:
    names = {}
    try:
        with open(os.path.join(os.path.dirname(spec.origin), "version.py"), encoding="utf-8") as file:
            exec(file.read(), {"__name__": "version"}, names)
    except OSError:
        pass
    build = names.get("cuda") or names.get("hip")
    drivers = ("/dev/nvidiactl", "/dev/dxg", "/dev/kfd")
    told["torch"] = str(names.get("__version__", ""))
    if not told["torch"] or build and (os.name == "nt" or any(map(os.path.exists, drivers))):
        try:
            import torch
        except Exception as error:
            told["trouble"] = f"{type(error).__name__}: {error}"
        else:
            told["torch"], told["gpus"] = torch.__version__, torch.cuda.device_count()
print("devfix-interpreter", json.dumps(told))
"""


@dataclass(frozen=True)
class Interpreter:
    """An interpreter that can run the program: its path, the versions of Python and torch, the real GPUs it sees.

    `pytest`: whether it has that.
    """

    path: Path
    python: tuple[int, ...]
    torch: str
    gpus: int
    pytest: bool = False


def interpreter(root: Path, asked: str | None = None, written_in: Path | None = None) -> Path:
    """Return the absolute path of the interpreter of the program under repair.

    `asked` is a path, the folder of an environment, or a name on the PATH; a path counts from the folder of the
    configuration that it is `written_in`, and one of the command line from here, else from `root`. Without it: the
    environment (.venv, venv) in `root` or in a folder above it up to the repository's top, else the interpreter that
    runs devfix. UserError where it does not exist. Links are not followed: an environment is known by its link's path.
    """
    if asked is None:
        return next((found for folder in _up(root) for found in _environments(folder)), Path(sys.executable))
    path = (written_in or Path()) / Path(asked).expanduser()
    if not path.exists():
        path = root / path
    inside = [found for name in _BINARIES if _is_program(found := path / name)]
    found = inside[0] if inside else path
    if not _is_program(found) and os.path.dirname(asked) == "":
        found = Path(shutil.which(asked) or found)
    if not _is_program(found):
        raise UserError(f"--python {asked}: there is no such interpreter; give the path of one, or a name on the PATH")
    return Path(os.path.abspath(found))


def examine(python: Path, cwd: Path) -> Interpreter:
    """Ask an interpreter, in one short process, for its version, its torch and its GPUs.

    UserError where it does not work, or has no torch that devfix can use.
    """
    # What is read here is UTF-8, whatever the user has Python write.
    environment = {**child_environment(), "PYTHONIOENCODING": "utf-8"}
    done = run((str(python), "-c", _EXAMINE), cwd, environment, timeout=120)
    told = next((line for line in done.stdout.splitlines() if line.startswith("devfix-interpreter ")), "")
    if not told:
        last = (done.trouble or done.stderr.strip() or f"exit code {done.exit_code}").splitlines()[-1]
        raise UserError(f"{python} does not work as a Python interpreter ({last}); name another with --python")
    data = json.loads(told.partition(" ")[2])
    if tuple(data["python"][:2]) < OLDEST_PYTHON:
        raise UserError(f"{python} is Python {_dotted(data['python'])}; devfix needs 3.10 or newer: --python another")
    if data.get("trouble"):
        raise UserError(f"{python} cannot import torch ({data['trouble'].splitlines()[0]}); mend it or use --python")
    if not data["torch"]:
        raise UserError(f"{python} has no torch; install it there, or name the program's own interpreter with --python")
    if _numbers(data["torch"]) < OLDEST_TORCH:
        raise UserError(f"{python} has torch {data['torch']}; devfix needs 2.6 or newer there")
    return Interpreter(python, tuple(data["python"]), data["torch"], data["gpus"], data.get("pytest") is True)


_BINARIES = ("bin/python", "Scripts/python.exe")


def _environments(folder: Path) -> list[Path]:
    return [path for name in (".venv", "venv") for binary in _BINARIES if _is_program(path := folder / name / binary)]


def _up(root: Path) -> list[Path]:
    """Return the folder and those above it, up to the one that git calls the top."""
    folders = [root, *root.parents]
    top = next((index for index, folder in enumerate(folders) if (folder / ".git").exists()), 0)
    return folders[: top + 1]


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _numbers(version: str) -> tuple[int, int]:
    major, minor = (*version.split("."), "0")[:2]
    return int(major), int("".join(filter(str.isdigit, minor)) or 0)


def _dotted(numbers: list[int]) -> str:
    return ".".join(map(str, numbers))
