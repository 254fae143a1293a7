"""Would `devfix find` have found bugs before people reported them? Search the commits before real fixes.

usage: python benchmarks/foresight.py [PARENT ...] [--work FOLDER] [--mirror FOLDER] [--budget 10m] [--table]

`foresight.toml` names the fixes: repository, the commit before each and the fix, what the tests need, and the tests
that run the file at fault: all that `devfix find` is told. A bug counts as found where a finding is created or fails
in a function that the fix changes, in the file at fault, or is created elsewhere in that file and fails in a call of
such a function: the fix moves it where it is used. A commit of which no test passes on the CPU is left out, and a
search without the bug that its budget has cut short. What was measured is kept in `foresight.json`, from which the
table in docs/explanation/foresight.md is written.

    [environments]
    "name-1.2" = ["numpy"]                  # beside torch and pytest
    [[fixes]]
    repository = "owner/name"
    parent = "the commit before the fix"
    fix = "the fix"
    path = "library/module.py"              # the file at fault
    bug = "what was wrong"
    environment = "name-1.2"
    select = ["tests/module/*"]
    why = "why it is not found"             # written by hand, where it is not
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from cases import tomllib
from checkouts import Checkout, check_out
from find import search
from needed import ROOT, need

FIXES = ROOT / "benchmarks" / "foresight.toml"
MEASURED = ROOT / "benchmarks" / "foresight.json"
PAGE = ROOT / "docs" / "explanation" / "foresight.md"
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? ", re.MULTILINE)
_FRAME = re.compile(r'^[ |]*File "(.+)", line (\d+), in ', re.MULTILINE)  # in groups of exceptions, too
_TOLD = """# Bugs found before their fixes

{found} of {count} bugs that people fixed in public repositories are found at the commit before the fix by `devfix
find`, on the CPU, told nothing but tests or docstring examples that run the file at fault. Generated
by `benchmarks/foresight.py`.

A fix is listed where its bug shows in one process on one or two GPUs with PyTorch {release}, and the commit before it
can be installed with that release on the CPU and has tests that run the file at fault. Whether `devfix find` finds the
bug plays no part. Left out are bugs that need a machine without a GPU, a checkpoint of another machine, several
processes, a tracer or a download for its tests, and what only costs time.{left}

"""
_HEADS = ("repository", "commit", "bug", "found", "tests", "passed lifted", "findings", "why not")


def changed(checkout: Checkout, fix: dict[str, Any]) -> list[range]:
    """Return the lines of the functions that a fix changes in the file at fault, as the parent has them."""
    git = ["git", "-C", str(checkout.folder)]
    diff = _told_by(*git, "diff", "--unified=0", "--no-ext-diff", fix["parent"], fix["fix"], "--", fix["path"])
    text = _told_by(*git, "show", f"{fix['parent']}:{fix['path']}")
    functions = [
        range(each.lineno, (each.end_lineno or each.lineno) + 1)
        for each in ast.walk(ast.parse(text))
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    found = []
    for start, count in _HUNK.findall(diff):
        for line in range(int(start), int(start) + max(int(count or 1), 1)):
            around = [each for each in functions if line in each]
            found.append(min(around, key=len) if around else range(line, line + 1))
    return list(dict.fromkeys(found))


def _told_by(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def judged(fix: dict[str, Any], report: dict[str, Any], lines: list[range]) -> dict[str, Any]:
    """Return what came of a search, and whether one of its findings is the bug."""
    hits = [each for each in report["findings"] if _is_bug(each, fix["path"], lines)]
    return {
        "repository": fix["repository"],
        "bug": fix["bug"],
        "tests": report["tests"],
        "passed_lifted": report["passed_lifted"],
        "findings": len(report["findings"]),
        "found": sorted({f"{each['path']}:{each['line']}" for each in hits}),
    }


def _is_bug(finding: dict[str, Any], path: str, lines: list[range]) -> bool:
    places = [(finding["path"], finding["line"]), (finding["failing"]["path"], finding["failing"]["line"])]
    if finding["path"] == path and finding["failure"] is not None:
        frames = _FRAME.findall(finding["failure"]["traceback"])
        places += [(path, int(line)) for file, line in frames if file.endswith(f"/{path}")]
    return any(place == path and any(line in each for each in lines) for place, line in places)


def page(fixes: Sequence[dict[str, Any]], results: dict[str, dict[str, Any]]) -> str:
    """Return the page."""
    rows = [f"| {' | '.join(_HEADS)} |", "| --- | --- | --- | --- | ---: | ---: | ---: | --- |"]
    measured = [(fix, results[fix["parent"]]) for fix in fixes if fix["parent"] in results]
    for fix, told in sorted(measured, key=lambda each: (each[0]["repository"], each[0]["parent"])):
        found = ", ".join(f"`{place}`" for place in told["found"]) or "no"
        numbers = (told["tests"], told["passed_lifted"], told["findings"])
        why = "" if told["found"] else fix.get("why", "")
        cells = (fix["repository"], fix["parent"][:10], fix["bug"], found, *numbers, why)
        rows.append(f"| {' | '.join(map(str, cells))} |")
    count = sum(bool(told["found"]) for _, told in measured)
    rest = len(fixes) - len(measured)
    left = f" Not measured yet: {rest} of the listed." if rest else ""
    release = version("torch").partition("+")[0]
    return _TOLD.format(found=count, count=len(measured), release=release, left=left) + "\n".join(rows) + "\n"


def main() -> int:
    """Search, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parents", nargs="*", metavar="PARENT", help="beginnings of commits (default: all)")
    parser.add_argument("--work", type=Path, default=ROOT / ".venv" / "find", help="keep clones and environments here")
    parser.add_argument("--mirror", type=Path, help="a folder with bare clones named owner+name")
    parser.add_argument("--budget", default="10m", help="the time for one commit")
    parser.add_argument("--table", action="store_true", help="write the table alone")
    asked = parser.parse_args()
    need("devfix", "torch")
    told = tomllib.loads(FIXES.read_text(encoding="utf-8"))
    fixes, environments = told["fixes"], told["environments"]
    results = json.loads(MEASURED.read_text(encoding="utf-8")) if MEASURED.exists() else {}
    for fix in [] if asked.table else fixes:
        if asked.parents and not any(fix["parent"].startswith(each) for each in asked.parents):
            continue
        needs = environments[fix["environment"]]
        checkout = check_out(fix["repository"], needs, asked.work, asked.mirror, fix["parent"])
        report = search(fix, checkout, asked.budget)
        kept = checkout.folder.with_name("find.json")
        kept.write_text(json.dumps(report, indent=1), encoding="utf-8")
        if not report["passed_cpu"]:
            said = "; ".join((*report["notes"], *(f"no module {name}" for name in report["missing"])))
            print(f"{fix['repository']} {fix['parent'][:10]}: no test passes on the CPU: {said}", flush=True)
            continue
        result = judged(fix, report, changed(checkout, fix))
        if not result["found"] and any("budget" in note for note in report["notes"]):
            print(f"{fix['repository']} {fix['parent'][:10]}: the budget was over before all tests ran", flush=True)
            continue
        results[fix["parent"]] = result
        MEASURED.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        print(f"{fix['repository']} {fix['parent'][:10]}: {', '.join(result['found']) or 'not found'}", flush=True)
    PAGE.write_text(page(fixes, results), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
