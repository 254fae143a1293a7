"""The interpreter of the program: its path, version, torch and GPUs."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from devfix.errors import UserError
from devfix.model import DeviceType
from devfix.process import child_environment, run

OLDEST_TORCH = (2, 6)
OLDEST_PYTHON = (3, 10)

# Importing torch takes seconds. Its version and build are in a small file; torch itself is only imported to count the
# GPUs, if the build supports them and the machine has a driver: that of Apple's GPU is part of macOS.
_EXAMINE = """
import sys
sys.path[:] = [path for path in sys.path if path]  # no file of the current folder may shadow a module
import importlib.util, json, os
facts = {"python": list(sys.version_info[:3]), "torch": "", "gpus": 0, "pytest": False, "ipykernel": False}
try:
    spec = importlib.util.find_spec("torch")
except (ImportError, ValueError):
    spec = None
for name in ("pytest", "ipykernel"):
    facts[name] = importlib.util.find_spec(name) is not None
if spec is not None and spec.origin:
    names = {}
    try:
        with open(os.path.join(os.path.dirname(spec.origin), "version.py"), encoding="utf-8") as file:
            exec(file.read(), {"__name__": "version"}, names)
    except OSError:
        pass
    is_for_gpus = names.get("cuda") or names.get("hip") or names.get("xpu")
    drivers = ("/dev/dri", "/dev/dxg") if names.get("xpu") else ("/dev/nvidiactl", "/dev/dxg", "/dev/kfd")
    has_driver = os.name == "nt" or any(map(os.path.exists, drivers))
    facts["torch"] = str(names.get("__version__", ""))
    if not facts["torch"] or sys.platform == "darwin" or is_for_gpus and has_driver:
        try:
            import torch
        except Exception as error:
            facts["problem"] = f"{type(error).__name__}: {error}"
        else:
            counts = {
                "cuda": torch.cuda.device_count(),
                "mps": int(torch.backends.mps.is_available()),
                "xpu": torch.xpu.device_count() if torch.xpu.is_available() else 0,
            }
            facts["torch"] = torch.__version__
            facts["device"], facts["gpus"] = next((each for each in counts.items() if each[1]), ("cuda", 0))
print("devfix-interpreter", json.dumps(facts))
"""


@dataclass(frozen=True)
class Interpreter:
    """An interpreter that can run the program: its path, the versions of Python and torch, the real GPUs it sees.

    `device` is their kind; `pytest`, `ipykernel`: whether that is installed.
    """

    path: Path
    python: tuple[int, ...]
    torch: str
    gpus: int
    pytest: bool = False
    ipykernel: bool = False
    device: DeviceType = DeviceType.CUDA


def interpreter(root: Path, asked: str | None = None, written_in: Path | None = None) -> Path:
    """Return the absolute path of the interpreter of the program under repair.

    `asked` is a path, the folder of an environment, or a name on the PATH. A path is relative to the folder of the
    configuration (`written_in`), one of the command line to the current folder, else to `root`. Without `asked`: the
    environment (.venv, venv) in `root` or in a folder above it up to the top of the repository, else the interpreter
    of devfix, or where that has no torch, as when devfix is installed as a tool, `python` on the PATH. Raises UserError
    if it does not exist. Links are not resolved: the path of the link selects the environment.
    """
    if asked is None:
        return next((found for folder in _up(root) for found in _environments(folder)), _default())
    path = (written_in or Path()) / Path(asked).expanduser()
    if not path.exists():
        path = root / path
    inside = [found for name in _BINARIES if _is_program(found := path / name)]
    found = inside[0] if inside else path
    if not _is_program(found) and os.path.dirname(asked) == "":
        found = Path(shutil.which(asked) or found)
    if not _is_program(found):
        raise UserError(f"--python {asked}: no such interpreter; give its path, or a name on the PATH")
    return Path(os.path.abspath(found))


def _default() -> Path:
    if importlib.util.find_spec("torch") is not None:
        return Path(sys.executable)
    return Path(os.path.abspath(shutil.which("python") or sys.executable))


def examine(python: Path, cwd: Path) -> Interpreter:
    """Return the version, torch and GPUs of an interpreter, asked in one short process.

    Raises UserError if it does not work, or has no torch that devfix supports.
    """
    # The output must be UTF-8, whatever the environment of the user sets.
    environment = {**child_environment(), "PYTHONIOENCODING": "utf-8"}
    done = run((str(python), "-c", _EXAMINE), cwd, environment, timeout=120)
    line = next((line for line in done.stdout.splitlines() if line.startswith("devfix-interpreter ")), "")
    if not line:
        last = (done.internal_error or done.stderr.strip() or f"exit code {done.exit_code}").splitlines()[-1]
        raise UserError(f"{python} does not work as a Python interpreter ({last}); choose another with --python")
    data = json.loads(line.partition(" ")[2])
    if tuple(data["python"][:2]) < OLDEST_PYTHON:
        raise UserError(
            f"{python} is Python {_join_version(data['python'])}; devfix needs 3.10 or newer; "
            "choose another with --python"
        )
    if data.get("problem"):
        raise UserError(
            f"{python} cannot import torch ({data['problem'].splitlines()[0]}); fix it, or choose another with --python"
        )
    if not data["torch"]:
        raise UserError(
            f"{python} has no torch; install it there, or give the interpreter of the program with --python"
        )
    if _numbers(data["torch"]) < OLDEST_TORCH:
        raise UserError(f"{python} has torch {data['torch']}; devfix needs 2.6 or newer")
    return Interpreter(
        python,
        tuple(data["python"]),
        data["torch"],
        data["gpus"],
        pytest=data.get("pytest") is True,
        ipykernel=data.get("ipykernel") is True,
        device=DeviceType(data.get("device", "cuda")),
    )


_BINARIES = ("bin/python", "Scripts/python.exe")


def _environments(folder: Path) -> list[Path]:
    return [path for name in (".venv", "venv") for binary in _BINARIES if _is_program(path := folder / name / binary)]


def _up(root: Path) -> list[Path]:
    """Return the folder and those above it, up to the top of the repository."""
    folders = [root, *root.parents]
    top = next((index for index, folder in enumerate(folders) if (folder / ".git").exists()), 0)
    return folders[: top + 1]


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _numbers(version: str) -> tuple[int, int]:
    major, minor = (*version.split("."), "0")[:2]
    return int(major), int("".join(filter(str.isdigit, minor)) or 0)


def _join_version(numbers: list[int]) -> str:
    return ".".join(map(str, numbers))
