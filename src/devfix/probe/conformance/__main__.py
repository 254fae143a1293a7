"""Record what a GPU does: `python -m devfix.probe.conformance record`, and compare: `... compare RECORDING`.

On a machine with a GPU the recording is the truth. With `--world simulated` the simulation is recorded instead, which
tests the recorder itself. The rows that need a second GPU are left out where there is one.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import warnings
from collections.abc import Collection
from pathlib import Path
from typing import Any

import torch

from ..simulation import world
from . import operators, snippets

SNIPPETS = Path("tests/simulation")
FOLDER = Path("corpus/cuda-truth")


def driver() -> str:
    """Return the version of the NVIDIA driver; "" if there is none."""
    try:
        command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        return subprocess.run(command, capture_output=True, text=True, timeout=30).stdout.strip().splitlines()[0]
    except (OSError, IndexError, subprocess.TimeoutExpired):
        return ""


def recording(kind: str, folder: Path, most: int, only: Collection[str] = ()) -> dict[str, Any]:
    """Return everything that the world does: operators with mixed devices, and snippets."""
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    gpus = torch.cuda.device_count() if kind == "real" else 2
    if kind == "simulated":
        world.enter("simulated", gpus)
    pairs = {"cpu in cuda:0": ("cuda:0", "cpu"), "cuda:0 in cpu": ("cpu", "cuda:0")}
    if gpus > 1:
        pairs["cuda:1 in cuda:0"] = ("cuda:0", "cuda:1")
    return {
        "torch": torch.__version__,
        "world": kind,
        "driver": driver() if kind == "real" else "",
        "gpus": [torch.cuda.get_device_name(index) for index in range(gpus)],
        "samples": most,
        "only": sorted(only),
        "operators": {name: operators.record(*pair, most, only) for name, pair in pairs.items()},
        "snippets": {
            snippet.title: snippets.run(snippet).split("\n")[0]
            for snippet in snippets.read(folder)
            if snippet.gpus <= gpus
        },
    }


def differences(truth: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Yield one line for each row of the first recording that is missing from or different in the second."""
    lines = []
    for pair, found in truth["operators"].items():
        for name, rows in found.items():
            recorded = other["operators"].get(pair, {}).get(name, {})
            for row, outcome in rows.items():
                if recorded.get(row) != outcome:
                    lines.append(f"{pair}: {name}, {row}: {outcome} | {recorded.get(row, 'not recorded')}")
    for title, outcome in truth["snippets"].items():
        if other["snippets"].get(title) != outcome:
            lines.append(f"snippet {title}: {outcome} | {other['snippets'].get(title, 'not recorded')}")
    return lines


def main() -> int:
    """Record or compare; the exit code of a comparison is 1 if there are differences."""
    parser = argparse.ArgumentParser(prog="python -m devfix.probe.conformance", description=__doc__)
    parser.add_argument("task", choices=("record", "compare"))
    parser.add_argument("recording", nargs="?", type=Path, help="the file to write, or to compare the simulation with")
    parser.add_argument("--world", choices=("real", "simulated"), default="real")
    parser.add_argument("--snippets", type=Path, default=SNIPPETS, help=f"their folder (default {SNIPPETS})")
    parser.add_argument("--samples", type=int, default=3, help="samples of each operator (default 3)")
    parser.add_argument("--only", nargs="+", default=[], metavar="OPERATOR", help="record these operators alone")
    options = parser.parse_args()
    if not options.snippets.is_dir():
        parser.error(f"{options.snippets} is no folder: run this at the top of the repository, or say --snippets")
    if options.task == "compare":
        truth = json.loads(options.recording.read_text(encoding="utf-8"))
        lines = differences(truth, recording("simulated", options.snippets, truth["samples"], truth["only"]))
        print(*lines, f"{len(lines)} rows differ", sep="\n")
        return int(bool(lines))
    if options.world == "real" and not torch.cuda.is_available():
        parser.error("there is no GPU here: record on a machine with one, or try the recorder with --world simulated")
    file = options.recording or FOLDER / f"{torch.__version__}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    recorded = recording(options.world, options.snippets, options.samples, options.only)
    file.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print(f"{file}: {sum(len(rows) for pair in recorded['operators'].values() for rows in pair.values())} mixtures")
    return 0


if __name__ == "__main__":
    sys.exit(main())
