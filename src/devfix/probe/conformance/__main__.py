"""Record what a GPU does: `python -m devfix.probe.conformance record`, and compare: `... compare RECORDING`.

On a machine with a GPU the recording is the reference. With `--world simulated` the simulation is recorded instead,
which tests the recorder itself. The rows that need a second GPU are left out where there is one. `--device` names the
kind of GPU. The recording also has what each operator does with tensors of each dtype on that GPU alone.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import warnings
from collections.abc import Collection
from pathlib import Path
from typing import Any

import torch

from ..simulation import world
from ..simulation.accelerators import kinds
from . import isolated, operators, recordings, snippets

SNIPPETS = Path("tests/simulation")
FOLDER = Path("corpus")


def driver() -> str:
    """Return the version of the NVIDIA driver; "" if there is none."""
    try:
        command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        return subprocess.run(command, capture_output=True, text=True, timeout=30).stdout.strip().splitlines()[0]
    except (OSError, IndexError, subprocess.TimeoutExpired):
        return ""


def real_gpus(device: str) -> int:
    """Return how many real GPUs of a kind this process sees."""
    module = getattr(torch, device)
    backend = torch.backends.mps if device == kinds.MPS.name else module
    return int(module.device_count()) if backend.is_available() else 0


def gpu_name(device: str, index: int) -> str:
    """Return the name of a GPU: of a Mac's, where this release of torch tells it."""
    if device == kinds.MPS.name:
        tell = getattr(torch.backends.mps, "get_name", None)
        return str(tell()) if tell is not None else device
    return str(getattr(torch, device).get_device_name(index))


def folder_of(snippets_folder: Path, device: str) -> Path:
    """Return the folder with the snippets of a kind of GPU."""
    return snippets_folder if device == kinds.CUDA.name else snippets_folder / "accelerators"


def recording(
    kind: str, folder: Path, most: int, only: Collection[str] = (), device: str = kinds.CUDA.name
) -> dict[str, Any]:
    """Return everything that the world does: snippets, and then, as they initialize the device, mixtures."""
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    gpus = real_gpus(device) if kind == "real" else min(2, kinds.KINDS[device].most)
    is_cuda = device == kinds.CUDA.name
    chosen = [
        snippet
        for snippet in snippets.read(folder_of(folder, device))
        if snippet.gpus <= gpus and (is_cuda or snippet.title.startswith(device))
    ]
    if kind == "simulated":
        world.enter("simulated", gpus, device=device)
    became = isolated.outcomes(chosen, os.cpu_count() or 1)
    first = f"{device}:0"
    pairs = {f"cpu in {first}": (first, "cpu"), f"{first} in cpu": ("cpu", first)}
    if gpus > 1:
        pairs[f"{device}:1 in {first}"] = (first, f"{device}:1")
    recorded = {name: operators.record(*pair, most, only) for name, pair in pairs.items()}
    recorded[f"{first} alone"] = operators.record_alone(first, only)
    return {
        "torch": torch.__version__,
        "world": kind,
        "device": device,
        "driver": driver() if kind == "real" and is_cuda else "",
        "gpus": [gpu_name(device, index) for index in range(gpus)],
        "samples": most,
        "only": sorted(only),
        "operators": recorded,
        "snippets": became,
    }


def differences(reference: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Yield one line for each row of the first recording that is missing from or different in the second."""
    lines = []
    for pair, found in reference["operators"].items():
        for name, rows in found.items():
            recorded = other["operators"].get(pair, {}).get(name, {})
            for row, outcome in rows.items():
                if recorded.get(row) != outcome:
                    lines.append(f"{pair}: {name}, {row}: {outcome} | {recorded.get(row, 'not recorded')}")
    for title, outcome in reference["snippets"].items():
        if other["snippets"].get(title) != outcome:
            lines.append(f"snippet {title}: {outcome} | {other['snippets'].get(title, 'not recorded')}")
    return lines


def main() -> int:
    """Record or compare; the exit code of a comparison is 1 if there are differences."""
    parser = argparse.ArgumentParser(prog="python -m devfix.probe.conformance", description=__doc__)
    parser.add_argument("task", choices=("record", "compare"))
    parser.add_argument("recording", nargs="?", type=Path, help="the file to write, or to compare the simulation with")
    parser.add_argument("--world", choices=("real", "simulated"), default="real")
    help_text = "the kind of GPU (default: the one that is here)"
    parser.add_argument("--device", choices=tuple(kinds.KINDS), default=None, help=help_text)
    parser.add_argument("--snippets", type=Path, default=SNIPPETS, help=f"their folder (default {SNIPPETS})")
    parser.add_argument("--samples", type=int, default=3, help="samples of each operator (default 3)")
    parser.add_argument("--only", nargs="+", default=[], metavar="OPERATOR", help="record these operators alone")
    options = parser.parse_args()
    os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")  # the other check initializes the driver before a fork
    if not options.snippets.is_dir():
        parser.error(f"{options.snippets} is not a folder: run this at the top of the repository, or say --snippets")
    if options.task == "compare":
        reference = recordings.read(options.recording)
        given = (options.snippets, reference["samples"], reference["only"], reference.get("device", kinds.CUDA.name))
        lines = differences(reference, recording("simulated", *given))
        print(*lines, f"{len(lines)} rows differ", sep="\n")
        return int(bool(lines))
    here = [name for name in kinds.KINDS if real_gpus(name)]
    device = options.device or (here[0] if here and options.world == "real" else kinds.CUDA.name)
    if options.world == "real" and device not in here:
        kind = f" of the kind {device}" if options.device else ""
        advice = "record on a machine with one, or try the recorder with --world simulated"
        parser.error(f"there is no GPU{kind} here (torch sees {', '.join(here) or 'none'}): {advice}")
    file = options.recording or FOLDER / f"{device}-truth" / f"{torch.__version__}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    recorded = recording(options.world, options.snippets, options.samples, options.only, device)
    recordings.write(file, recorded)
    print(f"{file}: {sum(len(rows) for pair in recorded['operators'].values() for rows in pair.values())} mixtures")
    return 0


if __name__ == "__main__":
    sys.exit(main())
