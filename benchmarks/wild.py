"""Repair released packages and notebooks in which the failures occurred that led to devfix; print one table.

usage: python benchmarks/wild.py [--verbose] [--jobs N] [NAME ...]

Each case of `corpus/wild/` names a release of the package index. It is installed with --no-deps, together with the
case's own driver, into a git repository of its own (or, with `installed`, into the environment of the program), and
`devfix repair` is run there, with --find-working-version if the case says in which files a release must be `pinned`.
A fault that was never released is brought into a wheel of the release before it, with the `version` that the
repository had then. A case that names a git `repository`, a `commit` and `files` is about these, such as a notebook; on
a machine that does not reach the repository its row says "not reached", and the others count (`commits.py` says how to
name a local mirror). What the releases import is installed once, pinned by `corpus/wild/requirements.txt`, into an
environment below `.venv/wild` (or the folder that DEVFIX_WILD names); torch comes from the environment around.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from cases import Result, result_of
from commits import NotReachedError
from needed import need
from places import changes
from releases import WILD, Wild, environment, make_environment, read_wild, unpacked
from repairs import branch_diff, make_repository, repair

NOT_REACHED = "not reached"
LIMIT = 1800  # seconds for a repair that hangs: the slowest took 240 s, and over 600 s on a machine thrice as slow
HEADS = ("case", "reproduced", "outcome", "as demanded", "place of the fix", "upstream's place", "worlds", "seconds")


def judge_wild(wild: Wild, shared: Path) -> Result:
    """Make the repository of a case in a temporary folder, and repair it; without its files it is "not reached"."""
    try:
        unpacked(wild, shared)
    except NotReachedError as error:
        return Result(wild.case, NOT_REACHED, diff=str(error))
    with tempfile.TemporaryDirectory(prefix="devfix-wild-") as temporary:
        return _judge(wild, shared, Path(temporary))


def _judge(wild: Wild, shared: Path, temporary: Path) -> Result:
    release = unpacked(wild, shared)
    made, python = temporary / "made", shared / "bin" / "python"
    if wild.installed:
        own = temporary / "environment"
        shutil.copytree(
            release, make_environment(own, next(shared.glob("lib/python*/site-packages"))), dirs_exist_ok=True
        )
        python = own / "bin" / "python"
    else:
        shutil.copytree(release, made, ignore=shutil.ignore_patterns("__pycache__", "bin"))
    shutil.copytree(wild.case.folder, made, dirs_exist_ok=True)
    folder = temporary / wild.case.name
    make_repository(made, folder)
    arguments = ["--run", wild.case.run, "--world", "simulated", "--gpus", str(wild.case.gpus), "--python", str(python)]
    arguments += ["--find-working-version"] if wild.pinned else []
    report, seconds = repair(folder, [*arguments, *(f"--exclude={glob}" for glob in wild.case.exclude)], LIMIT)
    result = result_of(wild.case, report, branch_diff(folder, report), seconds, made)
    return with_pin(result, wild, report.get("dependency_fault") or {})


def with_pin(result: Result, wild: Wild, fault: dict[str, Any]) -> Result:
    """The result, held against what the case says of the distribution at fault and of the release to pin."""
    if not wild.pinned:
        return result
    name = wild.package.partition("==")[0]
    edits = {edit["path"]: edit["diff"] for edit in fault.get("pin_edits", [])}
    asked = f"{name}=={fault.get('pin')}"
    patched = rf"^\+.*{re.escape(name)}(\[\w+\])?=={re.escape(fault.get('pin') or 'no release')}"
    wrong = {
        "distribution": (fault.get("distribution"), fault.get("version")) != (name, wild.version),
        "line": not (fault.get("reason") and fault.get("line") and fault.get("diff")),
        "pin": not fault.get("pin") or set(edits) != set(wild.pinned),
        "patch": not all(re.search(patched, diff, re.MULTILINE) for diff in edits.values()),
    }
    place = f"{fault.get('path')}:{fault.get('line')}; pinned: {asked}"
    return replace(result, place=place, faults=(*result.faults, *(each for each in wrong if wrong[each])))


def main() -> int:
    """Print the table; 1 where a case does not come out as it demands."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="cases (default: all)")
    parser.add_argument("--jobs", type=int, default=2, help="repairs at once (default: 2)")
    parser.add_argument("--verbose", action="store_true", help="print the diff, or why there is none")
    asked = parser.parse_args()
    need("devfix", "torch")
    folders = sorted(path.parent for path in WILD.glob("*/case.toml"))
    if unknown := set(asked.names) - {folder.name for folder in folders}:
        parser.error(f"no such case: {', '.join(sorted(unknown))}; the cases are the folders of corpus/wild/")
    cases = [read_wild(folder) for folder in folders if not asked.names or folder.name in asked.names]
    shared, short = environment(), 0
    for wild in cases:
        with suppress(NotReachedError):  # said in its row
            unpacked(wild, shared)
    print("| " + " | ".join(HEADS) + " |", "|" + " --- |" * len(HEADS), sep="\n", flush=True)
    with ThreadPoolExecutor(asked.jobs) as pool:
        for wild, result in zip(cases, pool.map(lambda case: judge_wild(case, shared), cases), strict=True):
            print(row(wild, result), flush=True)
            if asked.verbose:
                print(result.diff, file=sys.stderr, flush=True)
            short += bool(result.faults)
    return 1 if short else 0


def row(wild: Wild, result: Result) -> str:
    """One case as a line of the table."""
    if result.outcome == NOT_REACHED:
        cells = (wild.case.name, "", NOT_REACHED, "", "", wild.upstream, "", "")
        return "| " + " | ".join(cells) + " |"
    places = [f"{path}:{min(lines)}" for path, lines in changes(result.diff)] if result.rules else [result.place]
    cells = (
        wild.case.name,
        "yes" if result.reproduced else "no",
        result.outcome,
        "no: " + ", ".join(result.faults) if result.faults else "yes",
        ", ".join(places),
        wild.upstream,
        ", ".join(name if told == "clean" else f"{name} ✗" for name, told in result.worlds.items()),
        f"{result.seconds:.1f}",
    )
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    sys.exit(main())
