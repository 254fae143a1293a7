"""Repair 20 programs of `corpus/` as 20 repositories of a fleet on this machine, and open the report.

usage: python benchmarks/fleet_demo.py [--folder FOLDER] [--jobs N] [--print] [NAME ...]

The programs run with the interpreter of devfix, so that no environment is built and nothing is downloaded.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
import webbrowser
from collections.abc import Sequence
from pathlib import Path

from cases import Case, read_case
from needed import need
from repairs import make_repository

ROOT = Path(__file__).parents[1]
CORPUS = ROOT / "corpus"
# Each has another kind of bug, and one fix.
PROGRAMS = (
    *("unpickled-vocabulary-weights", "plain-list-layers", "tables-of-an-integrator", "cache-relative-bias"),
    *("sharded-residual", "auxiliary-metric-buffer", "attr-causal-mask", "recurrent-initial-state"),
    *("accumulator-best-rows", "legacy-constructor-list", "factory-index-causal-mask", "average-by-parameter-name"),
    *("factory-random-word-dropout", "input-dict-batch", "generator-host-seed", "factory-constant-gather-index"),
    *("model-moved-result-dropped", "numpy-function-on-tensor", "numpy-roundtrip-smoothing", "device-not-passed-on"),
)
_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")
_SETTINGS = {"mode": "repair", "memory": 2, "disk": 2, "time": 900, "options": ["--no-test"]}


def main() -> int:
    """Run the fleet and return the exit code of `devfix fleet run`: 0 if every program is repaired."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="cases of corpus/ (default: 20 with different kinds of bugs)")
    parser.add_argument(
        "--folder",
        type=Path,
        default=ROOT / "build" / "fleet-demo",
        help="a new folder for the repositories, the results and the report",
    )
    parser.add_argument("--jobs", type=int, help="at the same time (default: one for each core)")
    parser.add_argument("--print", action="store_true", help="print the path of the report instead of opening it")
    asked = parser.parse_args()
    need("devfix", "duckdb", "pyarrow", "ray", "torch")
    try:
        fleet = write_fleet([read_case(CORPUS / name) for name in asked.names or PROGRAMS], asked.folder.resolve())
    except FileNotFoundError as error:
        parser.error(f"{error.filename}: no such case; the cases are the folders of corpus/")
    began = time.monotonic()
    jobs = ["--jobs", str(asked.jobs)] if asked.jobs else []
    code = _devfix("run", str(fleet), *jobs)
    if code > 1:
        return code
    print(f"{time.monotonic() - began:.0f} s", flush=True)
    report = asked.folder.resolve() / "report.html"
    _devfix("report", str(fleet.parent / "fleet-results"), "--output", str(report))
    if not asked.print and (sys.platform == "darwin" or any(map(os.environ.get, _DISPLAYS))):
        webbrowser.open(report.as_uri())
    return code


def write_fleet(cases: Sequence[Case], folder: Path) -> Path:
    """Make a repository of each program below a new folder, and return the fleet.toml that names them."""
    from devfix.process import why_no_sandbox

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    # These programs are devfix's own; others should not run without a sandbox.
    settings = {**_SETTINGS, "python": sys.executable, "sandbox": not why_no_sandbox()}
    lines = ["[fleet]", *_lines(settings)]
    for case in cases:
        make_repository(case.folder, folder / case.name)
        lines += [
            "",
            "[[repository]]",
            *_lines({"path": case.name, "run": case.run, "world": case.world, "gpus": case.gpus}),
        ]
    file = folder / "fleet.toml"
    file.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return file


def _lines(table: dict[str, object]) -> list[str]:
    # Strings, numbers, switches and lists are written alike in JSON and TOML.
    return [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in table.items()]


def _devfix(*words: str) -> int:
    return subprocess.run([sys.executable, "-m", "devfix", "fleet", *words]).returncode


if __name__ == "__main__":
    sys.exit(main())
