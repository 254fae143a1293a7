"""Build the hot paths for the interpreter that runs this file, unless they are there: `python -IB build.py [--wait]`.

It returns at once and builds in a process of its own, at the lowest priority. Nothing else waits for the result: a run
that begins before it is there runs in Python. A file is only put into the cache once a small program has run with it.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from typing import Any

_spec: Any = spec_from_file_location("cache", os.path.join(os.path.dirname(os.path.abspath(__file__)), "cache.py"))
cache = module_from_spec(_spec)  # this file runs without the probe's package
_spec.loader.exec_module(cache)

LONGEST = 600  # seconds for the compiler: a lock that is older belongs to a process that was ended
_BUILDING = "building-"
AGAIN = 7 * 24 * 3600  # seconds until a failed build is tried again
CHECK = """
import sys, torch
x = torch.ones(3, device="cuda", requires_grad=True)
(x * x).sum().backward()
y = x.detach() * 2 + torch.ones(3, device="cuda")
assert sys.modules["devfix probe.simulation.native.loading"].extension() is not None
assert x.grad.tolist() == [2, 2, 2] and y.view(3, 1).tolist() == [[3], [3], [3]] and y.sum().item() == 9
"""


def main() -> int:
    """Build in the background, or with `--wait` in the foreground; 0 if the file is there or is being built."""
    found = find_spec("torch") if cache.is_possible() else None
    if found is None or not found.origin:
        return 1
    torch = os.path.dirname(found.origin)
    path = cache.file_for(torch)
    if os.path.exists(path):
        return 0
    if _is_newer(f"{path}.failed", AGAIN) or _is_newer(f"{path}.lock", LONGEST):
        return 1
    if "--wait" in sys.argv:
        return 0 if build(path, torch) else 1
    if os.fork() == 0:
        os.setsid()
        os.nice(19)
        with contextlib.suppress(Exception):
            build(path, torch)
        os._exit(0)
    return 0


def build(path: str, torch: str) -> bool:
    """Compile the sources to `path`; what the compiler says of a failure is written beside it."""
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            if not _is_newer(f"{path}.lock", LONGEST):
                os.unlink(f"{path}.lock")
        _remove_abandoned(os.path.dirname(path))
        os.close(os.open(f"{path}.lock", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError:
        return False  # somebody else builds it, or the cache cannot be written to
    try:
        # In the cache, and the compiler's files too: the program's folder for temporary files is compared by its owner.
        with tempfile.TemporaryDirectory(prefix=_BUILDING, dir=os.path.dirname(path)) as temporary:
            environment = {**os.environ, "TMPDIR": temporary}
            made = os.path.join(temporary, "devfix_native.so")
            problem = _compile(made, torch, environment) or _try(made, torch, environment)
            if problem:
                _write(f"{path}.failed", problem)
                return False
            shutil.copyfile(made, f"{path}.new")
            os.chmod(f"{path}.new", 0o700)
            os.replace(f"{path}.new", path)
            return True
    except OSError:
        return False
    finally:
        with contextlib.suppress(OSError):
            os.unlink(f"{path}.lock")


def _remove_abandoned(folder: str) -> None:
    """Remove what builders that were killed have left."""
    for name in os.listdir(folder):
        each = os.path.join(folder, name)
        if name.startswith(_BUILDING) and not _is_newer(each, LONGEST):
            shutil.rmtree(each, ignore_errors=True)


def compiler() -> list[str]:
    """Return the command of a C++ compiler, [] if there is none."""
    for words in (os.environ.get("CXX"), sysconfig.get_config_var("CXX"), "g++", "clang++", "c++"):
        parts = shlex.split(words or "")
        if parts and shutil.which(parts[0]):
            return parts[:1]
    return []


def _compile(made: str, torch: str, environment: dict[str, str]) -> str:
    command = compiler()
    if not command:
        return "there is no C++ compiler"
    libraries = os.path.join(torch, "lib")
    headers = [os.path.join(torch, "include"), sysconfig.get_paths()["include"]]
    options = ["-O2", "-fPIC", "-shared", "-fvisibility=hidden", f"-D_GLIBCXX_USE_CXX11_ABI={_abi(libraries)}"]
    options += [f"-I{folder}" for folder in headers]
    options += [os.path.join(cache.SOURCES, "module.cpp"), "-o", made, f"-L{libraries}"]
    options += ["-lc10", "-ltorch_cpu", "-ltorch_python"]
    said = ""
    for standard in ("-std=c++20", "-std=c++17"):  # the newest releases need the first; old compilers lack it
        try:
            done = subprocess.run(
                [*command, standard, *options],
                env=environment,
                capture_output=True,
                text=True,
                timeout=LONGEST / 2,
                check=False,
            )
        except (OSError, subprocess.SubprocessError) as error:
            return str(error)
        if done.returncode == 0:
            return ""
        said = said or done.stderr
    return said or "the compiler failed"


def _abi(libraries: str) -> int:
    """Return which of the two ABIs of libstdc++ PyTorch was compiled for: its symbols have it in their names."""
    with open(os.path.join(libraries, "libc10.so"), "rb") as file:
        return int(b"torchCheckFailEPKcS2_jRKNSt7__cxx11" in file.read())


def _try(made: str, torch: str, environment: dict[str, str]) -> str:
    """Run a small program with the new file; what it says if it fails."""
    os.chmod(made, 0o700)
    probe = os.path.dirname(os.path.dirname(cache.SOURCES))
    world = {"world": {"kind": "simulated", "gpus": 1, "current": 0}, "traces": os.devnull}
    paths = [os.path.join(probe, "entry"), os.path.dirname(torch)]
    environment = {**environment, "DEVFIX_PROBE": json.dumps(world), cache.SWITCH: made}
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    try:
        done = subprocess.run(
            [sys.executable, "-B", "-c", CHECK],  # it may outlive devfix, and leaves torch's folder alone
            env=environment,
            capture_output=True,
            text=True,
            timeout=LONGEST / 4,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    return "" if done.returncode == 0 else done.stderr or f"the check ended with {done.returncode}"


def _is_newer(path: str, seconds: float) -> bool:
    try:
        return time.time() - os.stat(path).st_mtime < seconds
    except OSError:
        return False


def _write(path: str, text: str) -> None:
    with contextlib.suppress(OSError), open(path, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    sys.exit(main())
