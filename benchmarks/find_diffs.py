"""Repair what `benchmarks/find.py` has found: write the change of each script that shows a true finding.

usage: python benchmarks/find_diffs.py [NAME ...] [--work FOLDER] [--mirror FOLDER] [--again]

For each true finding in `benchmarks/libraries/measured.json` whose script has no change yet, `devfix repair` runs the
script in the library's clone at the commit that was searched. Where all failures of the script are repaired, the lines
changed are kept beside it, as `name/script.diff`, from which `find.py --table` shows them in found.md. Look at each: a
change that a reviewer would not take is deleted, and `unrepaired` in the library's file says what is wrong with it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from checkouts import Checkout, check_out
from find import LIBRARIES, MEASURED, read_library
from needed import ROOT, need

_REPAIR = (sys.executable, "-m", "devfix", "repair")
_OPTIONS = ("--world", "simulated", "--dry-run", "--no-test", "--others", "0", "--format", "json")


def change(checkout: Checkout, script: Path, gpus: int) -> str:
    """Return the verified change with which a script runs; "" where there is none."""
    command = [*_REPAIR, str(checkout.folder), "--python", str(checkout.python), *_OPTIONS, "--gpus", str(gpus)]
    command += ["--run", f"python {script}"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{script}: devfix repair ended with exit code {done.returncode}")
    report: dict[str, Any] = json.loads(done.stdout)
    is_repaired = report["outcome"] == "repaired" and report["remaining_failure"] is None
    diff: str = report["diff"] if is_repaired else ""
    print(f"{script.parent.name}/{script.stem}: {report['outcome']}", flush=True)
    return diff


def changed_lines(folder: Path, diff: str) -> str:
    """Return a diff of a clone's commit without the lines around what changes."""
    with tempfile.TemporaryDirectory() as scratch:
        environment = {**os.environ, "GIT_INDEX_FILE": str(Path(scratch) / "index")}

        def git(*words: str, given: str | None = None) -> str:
            command = ["git", "-C", str(folder), *words]
            done = subprocess.run(command, input=given, stdout=subprocess.PIPE, text=True, check=True, env=environment)
            return done.stdout

        git("read-tree", "HEAD")
        git("apply", "--cached", given=diff)
        whole = git("diff", "--cached", "--unified=0", "--no-ext-diff", "HEAD")
    return "".join(line for line in whole.splitlines(True) if not line.startswith(("diff --git ", "index ")))


def main() -> int:
    """Repair the scripts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    results = json.loads(MEASURED.read_text(encoding="utf-8"))
    parser.add_argument("names", nargs="*", metavar="NAME", help="libraries (default: all)")
    parser.add_argument("--work", type=Path, default=ROOT / ".venv" / "find", help="keep clones and environments here")
    parser.add_argument("--mirror", type=Path, help="a folder with bare clones named owner+name")
    parser.add_argument("--again", action="store_true", help="also those that have a change")
    asked = parser.parse_args()
    need("devfix", "torch")
    for name in asked.names or sorted(results):
        true = [each for each in results[name]["findings"] if each["verdict"] == "true" and not each.get("unrepaired")]
        scripts = {LIBRARIES / name / f"{each['script']}.py": each["devices"] for each in reversed(true)}
        wanted = {each: scripts[each] for each in scripts if asked.again or not each.with_suffix(".diff").exists()}
        if not wanted:
            continue
        library, commit = read_library(name), results[name]["commit"]
        checkout = check_out(library["repository"], library["needs"], asked.work, asked.mirror, commit)
        for script, devices in wanted.items():
            gpus = 1 if any(each.endswith(":0") for each in devices) else 2
            if diff := change(checkout, script, gpus):
                script.with_suffix(".diff").write_text(changed_lines(checkout.folder, diff), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
