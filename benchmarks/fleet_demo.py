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
COUNT = 20
_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")
_SETTINGS = {"mode": "repair", "memory": 2, "disk": 2, "time": 900, "options": ["--no-test"]}


def main() -> int:
    """Run the fleet and return the exit code of `devfix fleet run`: 0 if every program is repaired."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"cases of corpus/ (default: the first {COUNT} that are marked quick)")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "fleet-demo", help="it is made anew")
    parser.add_argument("--jobs", type=int, help="at the same time (default: one for each core)")
    parser.add_argument("--print", action="store_true", help="print the path of the report instead of opening it")
    asked = parser.parse_args()
    need("devfix", "duckdb", "pyarrow", "ray", "torch")
    try:
        fleet = write_fleet(select_cases(asked.names), asked.folder.resolve())
    except FileNotFoundError as error:
        parser.error(f"{error.filename}: no such case; the cases are the folders of corpus/")
    began = time.monotonic()
    jobs = ["--jobs", str(asked.jobs)] if asked.jobs else []
    code = _devfix("run", str(fleet), *jobs)
    if code > 1:
        return code
    print(f"{time.monotonic() - began:.0f} s")
    report = asked.folder.resolve() / "report.html"
    _devfix("report", str(fleet.parent / "fleet-results"), "--output", str(report))
    if not asked.print and (sys.platform == "darwin" or any(map(os.environ.get, _DISPLAYS))):
        webbrowser.open(report.as_uri())
    return code


def select_cases(names: Sequence[str]) -> list[Case]:
    """Return the cases of these names, or else the first that are marked quick."""
    if names:
        return [read_case(CORPUS / name) for name in names]
    cases = (read_case(path.parent) for path in sorted(CORPUS.glob("*/case.toml")))
    return [case for case in cases if case.quick][:COUNT]


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
        lines += ["", "[[repository]]", *_lines({"path": case.name, "run": case.run, "world": case.world})]
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
