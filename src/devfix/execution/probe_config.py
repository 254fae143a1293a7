"""The configuration of the probe (docs/reference/trace-format.md), and the environment variable that passes it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from devfix.model import NO_COUNTS, CountRequest, SourceLocation, World
from devfix.process import child_environment
from devfix.process.native import SWITCH

DRIVERS = ("/dev/nvidiactl", "/dev/dxg", "/dev/kfd")
SEED = 0  # for programs that draw random numbers without a seed
STEPS_MARK = "reached"  # the file that the probe makes among the traces once operators have run so often
ENTRY = Path(__file__).resolve().parents[1] / "probe" / "entry"


def probe_config(
    world: World,
    traces: Path,
    owned: Path,
    original: Path,
    watch: Sequence[SourceLocation] = (),
    device_map: bool = False,
    reach: CountRequest = NO_COUNTS,
    totals: bool = False,
    seed: int | None = None,
    scripts: bool = True,
) -> Mapping[str, object]:
    """Return the configuration of a run that writes its traces to a folder; `owned` is the program's worktree."""
    return {
        "world": {"kind": world.kind, "gpus": world.gpus, "current": world.current, "device": world.device.value},
        "traces": str(traces),
        "owned": str(owned),
        "original": str(original),
        "watch": [{"path": str(owned / place.path), "line": place.line} for place in watch],
        "reach": [
            {"path": str(owned / place.path), "line": line}
            for place in reach.locations
            for line in range(place.line, min(place.end_line or place.line, place.line + 999) + 1)
        ],
        "map": device_map,
        "totals": totals,
        "seed": seed,
        "scripts": scripts,
        "given": [[each.total, each.size] for each in reach.expected_values],
        "untrained": list(reach.untrained),
        "steps": reach.steps,
    }


def environment_for(
    world: World, order: Mapping[str, object], given: Mapping[str, str] | None = None, overlays: Sequence[Path] = ()
) -> dict[str, str]:
    """Return the environment of the program: the user's without secrets (or `given`), and the configuration.

    Modules in `overlays` come before those that are installed.

    `CUDA_VISIBLE_DEVICES` is the user's if it shows all GPUs of a simulated world; otherwise it is not set.
    """
    environment = dict(child_environment() if given is None else given)
    writes_bytecode = not environment.get("PYTHONDONTWRITEBYTECODE")
    environment["DEVFIX_PROBE"] = json.dumps({**order, "bytecode": writes_bytecode})
    environment["PYTHONPATH"] = os.pathsep.join(
        filter(None, (str(ENTRY), *map(str, overlays), environment.get("PYTHONPATH")))
    )
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    if SWITCH in os.environ:
        environment[SWITCH] = os.environ[SWITCH]
    if world.kind == "cpu" and any(map(os.path.exists, DRIVERS)):
        environment["CUDA_VISIBLE_DEVICES"] = ""
    elif world.kind != "real" and not _shows_all(environment.get("CUDA_VISIBLE_DEVICES", ""), world.gpus):
        environment.pop("CUDA_VISIBLE_DEVICES", None)
    return environment


def observed_command(command: Sequence[str], environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return a command whose own `PYTHONPATH=…`, as in `env PYTHONPATH=src python main.py`, keeps the probe's entry.

    >>> observed_command(("env", "PYTHONPATH=src", "python"), {"PYTHONPATH": "/probe:/given"})
    ('env', 'PYTHONPATH=/probe:src', 'python')
    """
    entry = environment.get("PYTHONPATH", "").split(os.pathsep)[0]
    words = list(command)
    for number, word in enumerate(words[1:], 1) if os.path.basename(words[0]) == "env" else ():
        name, is_assignment, value = word.partition("=")
        if not is_assignment or name.startswith("-"):
            break
        if name == "PYTHONPATH":
            words[number] = f"PYTHONPATH={os.pathsep.join(filter(None, (entry, value)))}"
    return tuple(words)


def _shows_all(visible: str, gpus: int) -> bool:
    return sorted(visible.split(",")) == sorted(map(str, range(gpus)))
