"""Search public libraries for device bugs that nobody has hit yet, judge each finding by a script, and write the table.

usage: python benchmarks/find.py [NAME ...] [--work FOLDER] [--mirror FOLDER] [--budget 10m] [--table]

Each file of `benchmarks/libraries/` names a public repository, what its tests need, and which of them run:

    repository = "owner/name"
    needs = ["numpy"]                       # beside torch and pytest
    select = ["tests/*"]                    # globs of tests and of modules with docstring examples
    [[findings]]                            # what has been judged, known by kind, path and function
    kind = "raises"
    path = "library/module.py"
    function = "forward"
    script = "forward"                      # true if the script library/forward.py fails the same way
    title = "`Model.forward` on a GPU"      # what found.md calls it
    reported = "https://…"                  # where somebody has reported it, if so
    unrepaired = "why no change is shown"   # where the change of devfix is none that a reviewer would take
    [[findings]]
    ...
    cause = "why it is no bug"              # written by hand, when a finding has been looked into

It is cloned at its newest commit into `--work` (with `--mirror` from bare clones named `owner+name`), with an
environment of its own, and `devfix find` runs there. A script is what a user would write. It must end well without a
GPU, and fail on simulated ones: of the same kind, and raised by the same function; a script for a finding that fails
nowhere asserts what is wrong. Where the same script shows an earlier finding, too, it fails at the later one once the
rest of its kept change is applied. What was measured is kept in `measured.json` beside these files, from which
docs/explanation/find-benchmark.md and, of what is true, docs/explanation/found.md are written; `--table` writes these
alone.
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

from cases import tomllib
from checkouts import Checkout, check_out
from needed import ROOT, need
from partly_repaired import without
from verdicts import benchmark_page, found_page

LIBRARIES = ROOT / "benchmarks" / "libraries"
MEASURED = LIBRARIES / "measured.json"
PAGES = ROOT / "docs" / "explanation"
_RUN = (sys.executable, "-m", "devfix", "run", "--format", "json", "--world", "simulated", "--gpus", "2")


def search(library: dict[str, Any], checkout: Checkout, budget: str) -> dict[str, Any]:
    """Return the report of `devfix find`."""
    command = [sys.executable, "-m", "devfix", "find", str(checkout.folder), "--python", str(checkout.python)]
    command += ["--format", "json", "--budget", budget]
    command += [f"--{name}={glob}" for name in ("select", "exclude") for glob in library.get(name, ())]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{library['repository']}: devfix find ended with exit code {done.returncode}")
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def measured(name: str, library: dict[str, Any], checkout: Checkout, report: dict[str, Any]) -> dict[str, Any]:
    """Return what counts of a report, each finding with its verdict."""
    return {
        "repository": library["repository"],
        "commit": checkout.commit,
        "tests": report["tests"],
        "passed_cpu": report["passed_cpu"],
        "passed_lifted": report["passed_lifted"],
        "unexplained": len(report["failed_lifted"]),
        "artefacts": len(report["artefacts"]),
        "in_findings": len({test for each in report["findings"] if _on_first(each) for test in each["tests"]}),
        "seconds": report["seconds"],
        "processor_seconds": report["processor_seconds"],
        "notes": report["notes"],
        "findings": [judged(name, library, checkout, each) for each in report["findings"]],
    }


def _on_first(finding: dict[str, Any]) -> bool:
    """Whether a finding fails tests that are lifted to `cuda:0`."""
    return finding["kind"] == "raises" and "cuda:0" in finding["devices"]


def judged(name: str, library: dict[str, Any], checkout: Checkout, finding: dict[str, Any]) -> dict[str, Any]:
    """Return a finding with its verdict: true, false with the cause, or open."""
    told = {key: finding[key] for key in ("kind", "path", "line", "function", "rule", "confidence", "devices")}
    told |= {"tests": len(finding["tests"]), "first": finding["tests"][0], "failing": finding["failing"]}
    told["message"] = (finding["failure"] or {}).get("message") or finding["title"]
    known = next((each for each in library.get("findings", ()) if _is_same(each, finding)), None)
    if known is None:
        return {**told, "verdict": "open", "why": ""}
    if "cause" in known:
        return {**told, "verdict": "false", "why": known["cause"]}
    script = LIBRARIES / name / f"{known['script']}.py"
    told |= {key: known.get(key, "") for key in ("script", "title", "reported", "unrepaired")}
    problem = _problem(script, checkout, finding)
    return {**told, "verdict": "open" if problem else "true", "why": problem}


def _is_same(known: dict[str, Any], finding: dict[str, Any]) -> bool:
    names = ("kind", "path", "function")
    is_same = all(known[name] == finding[name] for name in names)
    return is_same and known.get("source", "") in finding["source"]


def _problem(script: Path, checkout: Checkout, finding: dict[str, Any]) -> str:
    """Return in which way a script does not show the finding; "" where it does."""
    with tempfile.TemporaryDirectory(prefix="devfix-script-") as folder:
        words, environment = [str(checkout.python), str(script)], {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
        if subprocess.run(words, cwd=folder, env=environment, capture_output=True).returncode != 0:
            return "the script fails without a GPU"
        gpu = _on_gpus(script, checkout, folder)
    if gpu["exit_code"] == 0:
        return "the script does not fail on a GPU"
    if finding["failure"] is None or finding["kind"] not in ("raises", "handled"):
        return ""  # it fails nowhere in the tests, or where a strict run lets it fail
    if not _fails_there(gpu, finding) and not _fails_behind(script, checkout, finding):
        kind = gpu["failure"]["kind"] if gpu["failure"] else "no device failure"
        return f"the script fails in another way: {kind}"
    return ""


def _fails_there(run: dict[str, Any], finding: dict[str, Any]) -> bool:
    """Return whether a script fails as the tests of a finding do, at the same line."""
    failure = run["failure"] or {"kind": "", "traceback": ""}
    raised = f'{finding["failing"]["path"]}", line {finding["failing"]["line"]},'
    return failure["kind"] == finding["failure"]["kind"] and raised in failure["traceback"]


def _fails_behind(script: Path, checkout: Checkout, finding: dict[str, Any]) -> bool:
    """Return whether a script fails so where what it meets before is repaired, by the other parts of its change."""
    kept = script.with_suffix(".diff")
    if not kept.exists():
        return False
    change = kept.read_text(encoding="utf-8")
    with (
        without(checkout.folder, change, finding["path"], finding["line"]) as is_left,
        tempfile.TemporaryDirectory(prefix="devfix-script-") as folder,
    ):
        return is_left and _fails_there(_on_gpus(script, checkout, folder), finding)


def _on_gpus(script: Path, checkout: Checkout, folder: str) -> dict[str, Any]:
    command = [*_RUN, "--python", str(checkout.python), "--", "python", str(script)]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    run: dict[str, Any] = json.loads(done.stdout)
    return run


def read_library(name: str) -> dict[str, Any]:
    """Return what the file of a library says."""
    return tomllib.loads((LIBRARIES / f"{name}.toml").read_text(encoding="utf-8"))


def main() -> int:
    """Search, judge, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = sorted(path.stem for path in LIBRARIES.glob("*.toml"))
    parser.add_argument("names", nargs="*", metavar="NAME", help="libraries (default: all)")
    parser.add_argument("--work", type=Path, default=ROOT / ".venv" / "find", help="keep clones and reports here")
    parser.add_argument("--mirror", type=Path, help="a folder with bare clones named owner+name")
    parser.add_argument("--budget", default="10m", help="the time for one library")
    parser.add_argument("--judge", action="store_true", help="judge the findings of the last search")
    parser.add_argument("--table", action="store_true", help="write the table alone")
    asked = parser.parse_args()
    if unknown := set(asked.names) - set(names):
        parser.error(f"no such library: {', '.join(sorted(unknown))}; they are in benchmarks/libraries/")
    need("devfix", "torch")
    results = json.loads(MEASURED.read_text(encoding="utf-8")) if MEASURED.exists() else {}
    for name in [] if asked.table else asked.names or names:
        library = read_library(name)
        checkout = check_out(library["repository"], library["needs"], asked.work, asked.mirror)
        kept = asked.work / f"{name}.json"
        if not asked.judge or not kept.exists():
            kept.write_text(json.dumps(search(library, checkout, asked.budget), indent=1), encoding="utf-8")
        report = json.loads(kept.read_text(encoding="utf-8"))
        results[name] = measured(name, library, checkout, report)
        MEASURED.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        verdicts = ", ".join(
            f"{each['path']}:{each['line']} {each['verdict']} {each['why']}".strip()
            for each in results[name]["findings"]
        )
        print(f"{name}: {verdicts or 'no findings'}", flush=True)
    (PAGES / "find-benchmark.md").write_text(benchmark_page(results), encoding="utf-8")
    (PAGES / "found.md").write_text(found_page(results, LIBRARIES), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
