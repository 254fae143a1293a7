"""Run a suite on the CPU or in a simulated world, in the environment that the suite has."""

from __future__ import annotations

import json
import os
import resource
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from .recorder import ATTRIBUTE, DEVICE, WRITTEN

BENCHMARKS = Path(__file__).resolve().parent.parent
SOURCE = BENCHMARKS.parent / "src"


def devices(suite: dict[str, Any]) -> list[str]:
    """Return the devices that a suite is run on beside the CPU, each in a world of its own."""
    return list(suite.get("devices", ("cuda",)))


def command(suite: dict[str, Any], where: str) -> list[str]:
    """Return how pytest is started for a suite on "cpu" or on a simulated device."""
    python = os.path.expanduser(suite.get("python", sys.executable))
    given = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "suites.recorder", "--tb=line", "--color=no"]
    given += ["--continue-on-collection-errors"]
    if where != "cpu":
        # By its module, wherever devfix stands: the suite's environment need not have it, and may have another one.
        given += ["-p", "no:devfix-gpus", "-p", "devfix.pytest_gpus.plugin"]
        given += ["--gpus", str(suite.get("gpus", 1)), "--world", _world(where)]
    return [*given, *suite["tests"], *suite.get(where, ())]


def reproduced(suite: dict[str, Any], where: str) -> str:
    """Return the command that runs a suite on a device, in an environment with devfix, as a document tells it."""
    told = {**suite.get("environment", {}), **suite.get(f"{where}_environment", {})}
    words = [f"{name}={value}" for name, value in told.items() if name != "PYTHONPATH"]
    words += ["python", "-m", "pytest", "--gpus", str(suite.get("gpus", 1)), "--world", _world(where)]
    return shlex.join([*words, *suite["tests"], *suite.get(where, ())])


def _world(where: str) -> str:
    return "simulated" if where == "cuda" else where


def environment(suite: dict[str, Any], where: str, written: Path) -> dict[str, str]:
    """Return the environment of a run that writes its results to `written`."""
    told = {**os.environ, **suite.get("environment", {}), **suite.get(f"{where}_environment", {})}
    paths = [str(SOURCE), str(BENCHMARKS), told.get("PYTHONPATH", "")]
    told["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    told[WRITTEN] = str(written)
    if suite.get("default_device"):
        told[DEVICE] = where
    if attribute := suite.get("device_attribute"):
        told[ATTRIBUTE] = f"{attribute}={where}"
    return told


def run(suite: dict[str, Any], where: str, written: Path) -> None:
    """Run a suite on "cpu" or on a device: its results to `written`, a test a line, and a log beside it."""
    unfinished = written.with_suffix(".unfinished")
    unfinished.unlink(missing_ok=True)
    told: dict[str, Any] = {"devfix": _said("git", "log", "-1", "--format=%h", folder=BENCHMARKS)}
    told["revision"] = _said("git", "rev-parse", "HEAD", folder=Path(suite["folder"]).expanduser())
    began, worked = time.monotonic(), _processor_seconds()
    with open(written.with_suffix(".log"), "w", encoding="utf-8") as log:
        ended = subprocess.run(
            command(suite, where),
            cwd=Path(suite["folder"]).expanduser(),
            env=environment(suite, where, unfinished),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            check=False,
        )
    told |= {"seconds": round(time.monotonic() - began, 1), "exit": ended.returncode}
    told["processor"] = round(_processor_seconds() - worked, 1)
    with unfinished.open("a", encoding="utf-8") as file:
        file.write(json.dumps(told) + "\n")
    os.replace(unfinished, written)


def _said(*words: str, folder: Path) -> str:
    asked = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    return asked.stdout.strip() if asked.returncode == 0 else ""


def _processor_seconds() -> float:
    """Return what the programs that were started have used: on a shared machine a clock tells less."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
