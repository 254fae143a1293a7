"""Repair real faults of public repositories in whole clones, each by a driver as a user of the library would write it.

usage: python benchmarks/real_faults.py [PARENT ...] [--work FOLDER] [--mirror FOLDER] [--check | --table]

`real_faults.toml` names the faults: repository, the commit before the fix and the fix, the file at fault, and a driver.
The driver is committed in a clone at the commit before the fix; `devfix repair` is told to run it and not to edit it,
on two simulated GPUs, and nothing else. Our diff and the one of people are kept beside the clone, and never in this
repository, as they hold upstream's code. What was measured is kept in `real_faults.json`, from which the table in
docs/explanation/real-cases.md is written. `--check` runs each driver at the fix, where it must not fail. All faults
share an environment with what any of them needs.

    [[faults]]
    repository = "owner/name"
    parent = "the commit before the fix"
    fix = "the fix"
    path = "library/module.py"              # the file at fault
    bug = "what was wrong"
    needs = ["numpy"]                       # beside torch
    source = "src"                          # where the packages are, if not at the top
    driver = "the program"
    ours = "what devfix did"                # written by hand, with the next three, when both diffs were compared
    people = "what people did"
    verdict = "as good"                     # or better, worse, not repaired
    why = "..."
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from cases import tomllib
from checkouts import clone_of, environment
from needed import ROOT, need
from repairs import branch_diff, repair

FAULTS = ROOT / "benchmarks" / "real_faults.toml"
MEASURED = ROOT / "benchmarks" / "real_faults.json"
PAGE = ROOT / "docs" / "explanation" / "real-cases.md"
DRIVER = "devfix_driver.py"
OTHERS = "20"  # seconds for other commands of the repository, of which these have hours
_IDENTITY = ("-c", "user.name=benchmark", "-c", "user.email=benchmark@localhost")
_BLOCK = re.compile(r"(<!-- begin faults: [^\n]* -->\n).*?(<!-- end faults -->)", re.DOTALL)
_HEADS = ("case", "rule", "fix of devfix", "fix of the maintainers", "verdict", "why")
GOOD = ("as good", "better")


def put_driver(clone: Path, text: str) -> None:
    """Make the driver part of the clone's commit, whatever a run before this one left there."""
    (clone / DRIVER).write_text(text.strip() + "\n", encoding="utf-8")
    (clone / ".git" / "info" / "exclude").write_text("__pycache__/\n", encoding="utf-8")
    _git(clone, "add", "--force", DRIVER)
    if _git(clone, "status", "--porcelain", "--", DRIVER):
        _git(clone, *_IDENTITY, "commit", "--quiet", "--no-verify", "--message", "Add a driver")


def command_of(fault: dict[str, Any]) -> str:
    """Return the command of a driver; where packages are not at the top, as with an editable installation."""
    return f"env PYTHONPATH={fault['source']} python {DRIVER}" if "source" in fault else f"python {DRIVER}"


def measure(fault: dict[str, Any], python: Path, work: Path, mirror: Path | None) -> dict[str, Any]:
    """Return what came of a repair; the report and both diffs are written beside the clone."""
    clone, parent = clone_of(fault["repository"], work, mirror, fault["parent"])
    put_driver(clone, fault["driver"])
    arguments = [
        "--run",
        command_of(fault),
        "--exclude",
        DRIVER,
        "--gpus",
        "2",
        "--world",
        "simulated",
        "--others",
        OTHERS,
    ]
    report, seconds = repair(clone, [*arguments, "--python", str(python), "--no-test"])
    ours = branch_diff(clone, report) or "\n".join(report.get("notes", []))
    people = _git(clone, "diff", "--no-ext-diff", "--unified=1", parent, fault["fix"], "--", fault["path"])
    (clone.parent / "report.json").write_text(json.dumps(report, indent=1), encoding="utf-8")
    (clone.parent / "both.diff").write_text(f"OURS\n{ours}\nPEOPLE'S\n{people}", encoding="utf-8")
    fixes = report.get("fixes", [])
    return {
        "reproduced": bool(report.get("failures")),
        "outcome": report["outcome"],
        "rules": list(dict.fromkeys(fix["rule"] for fix in fixes)),
        "titles": [fix["title"] for fix in fixes],
        "seconds": round(seconds),
    }


def passes(fault: dict[str, Any], python: Path, work: Path, mirror: Path | None) -> bool:
    """Return whether the driver runs clean at the fix of people."""
    clone, _ = clone_of(fault["repository"], work, mirror, fault["fix"])
    put_driver(clone, fault["driver"])
    command = [sys.executable, "-m", "devfix", "run", "--gpus", "2", "--world", "simulated", "--python", str(python)]
    done = subprocess.run([*command, "--", *shlex.split(command_of(fault))], cwd=clone, capture_output=True, text=True)
    if done.returncode:
        print(done.stdout[-2000:], done.stderr[-2000:])
    return done.returncode == 0


def known() -> dict[str, dict[str, Any]]:
    """Return what was measured before, by parent."""
    found: dict[str, dict[str, Any]] = json.loads(MEASURED.read_text(encoding="utf-8")) if MEASURED.exists() else {}
    return found


def name_of(fault: dict[str, Any]) -> str:
    """Return the name of a case: repository and fix."""
    return f"{fault['repository'].split('/')[1]}-{fault['fix'][:9]}"


def table(faults: list[dict[str, Any]], measured: dict[str, dict[str, Any]]) -> str:
    """Return the sentence with the counts, and a row for each fault that was reproduced."""
    seen = [each for each in faults if measured.get(each["parent"], {}).get("reproduced")]
    repaired = [each for each in seen if measured[each["parent"]]["outcome"] == "repaired"]
    good = sum(each.get("verdict") in GOOD for each in repaired)
    rows = [f"| {' | '.join(_HEADS)} |", "|" + "---|" * len(_HEADS)]
    for each in seen:
        told = measured[each["parent"]]
        rules = ", ".join(f"`{rule}`" for rule in told["rules"])
        ours = each.get("ours") or "; ".join(told["titles"]).replace("|", "\\|")
        verdict = each.get("verdict", "not judged") if each in repaired else "not repaired"
        cells = (name_of(each), rules, ours, each.get("people", ""), verdict, each.get("why", ""))
        rows.append(f"| {' | '.join(cells)} |")
    libraries = len({each["repository"] for each in seen})
    counts = (
        f"**{len(seen)} faults of {libraries} repositories reproduced, {len(repaired)} repaired "
        f"({len(repaired) / max(1, len(seen)):.0%}). {good} fixes are as good as the maintainers' or better, "
        f"{len(repaired) - good} are worse.**"
    )
    return f"{counts}\n\n" + "\n".join(rows) + "\n"


def fill(page: str, text: str) -> str:
    """Return the page with the table in its place."""
    return _BLOCK.sub(lambda match: f"{match[1]}\n{text}\n{match[2]}", page)


def main() -> int:
    """Repair, and write the table; 1 where a fault that was reproduced is not repaired."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parents", nargs="*", metavar="PARENT", help="beginnings of commits (default: all)")
    parser.add_argument("--work", type=Path, default=ROOT / ".venv" / "faults", help="keep clones and environment here")
    parser.add_argument("--mirror", type=Path, help="a folder with bare clones named owner+name")
    parser.add_argument("--check", action="store_true", help="run the drivers at the fixes, and repair nothing")
    parser.add_argument("--table", action="store_true", help="write the table alone")
    asked = parser.parse_args()
    need("devfix", "torch")
    faults = tomllib.loads(FAULTS.read_text(encoding="utf-8"))["faults"]
    if not asked.table:
        python = environment(asked.work / "environment", sorted({need for each in faults for need in each["needs"]}))
        for fault in faults:
            if asked.parents and not any(fault["parent"].startswith(each) for each in asked.parents):
                continue
            if asked.check:
                print(f"{name_of(fault)}: {'passes' if passes(fault, python, asked.work, asked.mirror) else 'FAILS'}")
                continue
            told = measure(fault, python, asked.work, asked.mirror)
            text = json.dumps(
                {**known(), fault["parent"]: told}, indent=1, sort_keys=True
            )  # another run may have written
            MEASURED.write_text(text + "\n", encoding="utf-8")
            print(f"{name_of(fault)}: {told['outcome']}, {', '.join(told['rules'])}, {told['seconds']} s", flush=True)
    measured = known()
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), table(faults, measured)), encoding="utf-8")
    return int(any(each["reproduced"] and each["outcome"] != "repaired" for each in measured.values()))


def _git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(folder), *words], check=True, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())
