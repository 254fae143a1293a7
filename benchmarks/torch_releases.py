"""Compare the answers of the simulated GPUs across the supported releases of PyTorch.

usage: python benchmarks/torch_releases.py [RELEASE ...] [--work FOLDER] [--table]

Each release (`2.6`; default: all that are supported) gets an environment with the build that the package index has,
some gigabytes, which is removed afterwards unless `--work` names a folder for it. There the snippets of
tests/simulation are run, every operator of PyTorch's database is compared with the CPU (ten samples each in float32),
and a program of the corpus is repaired. What was measured is kept in `torch_releases.json`, from which the table in
docs/explanation/simulated-gpu.md is written.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from checkouts import environment
from needed import ROOT, need
from repairs import make_repository, repair

RELEASES = tuple(f"2.{minor}" for minor in range(6, 16))
PROGRAM = "hello"
PAGE = ROOT / "docs" / "explanation" / "simulated-gpu.md"
MEASURED = ROOT / "benchmarks" / "torch_releases.json"
NEEDS = ("numpy", "scipy", "expecttest>=0.2")  # of PyTorch's operator database
SIMULATION = ROOT / "tests" / "simulation"
_BLOCK = re.compile(r"(<!-- begin releases: [^\n]* -->\n).*?(<!-- end releases -->)", re.DOTALL)
_JUDGE = """
import json, sys
from pathlib import Path
from devfix.probe.conformance import snippets
came = dict(map(json.loads, sys.stdin))
print(json.dumps([s.title for s in snippets.read(Path(sys.argv[1])) if not snippets.agrees(came[s.title], s.expected)]))
"""


def main() -> int:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("releases", nargs="*", metavar="RELEASE", help="such as 2.6 (default: all)")
    parser.add_argument("--work", type=Path, help="keep the environments here")
    parser.add_argument("--table", action="store_true", help="write the table alone")
    asked = parser.parse_args()
    need("devfix", "torch")
    failed = False
    for release in () if asked.table else asked.releases or RELEASES:
        try:
            with tempfile.TemporaryDirectory() as scratch:
                python = environment((asked.work or Path(scratch)) / release, NEEDS, torch=f"{release}.*")
                told = _kept() | {release: measure(python)}
        except subprocess.CalledProcessError as error:
            failed = True
            print(f"{release}: {error}\n{str(error.stderr)[-3000:]}", flush=True)
            continue
        MEASURED.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
        print(release, json.dumps(told[release]), flush=True)
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(_BLOCK.sub(lambda match: match[1] + table(_kept()) + match[2], text), encoding="utf-8")
    return int(failed)


def _kept() -> dict[str, dict[str, Any]]:
    if not MEASURED.exists():
        return {}
    kept: dict[str, dict[str, Any]] = json.loads(MEASURED.read_text(encoding="utf-8"))
    return kept


def measure(python: Path) -> dict[str, Any]:
    """Return what the simulation does with the torch of an interpreter."""
    lines = _run(python, str(SIMULATION / "run_snippets.py")).splitlines()
    told = "\n".join(line for line in lines if line.startswith('["'))
    operators = json.loads(_run(python, str(SIMULATION / "run_operators.py"), "float32").splitlines()[-1])
    return {
        "torch": _run(python, "-c", "import torch; print(torch.__version__)").strip(),
        "python": _run(python, "-c", "import platform; print(platform.python_version())").strip(),
        "snippets": told.count("\n") + 1,
        "other": json.loads(_run(python, "-c", _JUDGE, str(SIMULATION), given=told)),
        "operators": operators["operators"],
        "samples": operators["compared"],
        "differing": sorted(operators["differences"]),
        "repair": _repair(python),
    }


def _run(python: Path, *words: str, given: str = "") -> str:
    path = {"PYTHONPATH": str(ROOT / "src")}
    command, env = [str(python), *words], os.environ | path
    return subprocess.run(command, input=given, capture_output=True, text=True, check=True, env=env).stdout


def _repair(python: Path) -> str:
    """Return the outcome of repairing a program of the corpus."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / PROGRAM
        make_repository(ROOT / "corpus" / PROGRAM, folder)
        report, _ = repair(folder, ["--python", str(python)])
    return str(report["outcome"])


def table(told: dict[str, dict[str, Any]]) -> str:
    """Return a row for each release."""
    heads = (
        "torch",
        "Python",
        "snippets as expected",
        "operators (samples)",
        "that differ from the CPU",
        f"`corpus/{PROGRAM}`",
    )
    rows = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    for release in sorted(told, key=lambda name: [int(part) for part in name.split(".")]):
        each = told[release]
        right = f"{each['snippets'] - len(each['other']):,} of {each['snippets']:,}"
        counted = f"{each['operators']} ({each['samples']:,})"
        differing = ", ".join(f"`{name}`" for name in each["differing"]) or "none"
        rows.append(f"| {each['torch']} | {each['python']} | {right} | {counted} | {differing} | {each['repair']} |")
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    sys.exit(main())
