"""Write the tables of docs/reference/fleet-results.md from the schemas: `python scripts/fleet_results_page.py`."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

from devfix.fleet.results.arrow import PLAN, RESULTS

sys.path.insert(0, str(Path(__file__).resolve().parent))
from readme import filled

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "fleet-results.md"
JOB = {
    "key": "A digest of what decides the result; the name of the job's files.",
    "repository": "The name that is shown.",
    "address": "What git clones.",
    "ref": "The branch or tag that the file of the fleet names; empty for the default branch.",
    "commit": "The commit that the ref had when the fleet was planned.",
    "subfolder": "The folder of the repository in which the command runs, empty for its root.",
    "mode": "`repair` or `find`.",
    "run": "The command of the program, empty for those that devfix discovers.",
    "options": "Further options of the command of `mode`.",
    "packages": "What is installed besides.",
    "torch": "The build of torch in the environment.",
    "sandbox": "Whether the job runs in the sandbox.",
    "network": "Whether the program may use the network.",
    "limits": "Cores, gigabytes of memory and of disk, and seconds.",
    "python": "An interpreter of the nodes to use in place of a new environment.",
}
RESULT = JOB | {
    "devfix": "The version of devfix.",
    "outcome": "How the job ended, for example `repaired`, `clean` or `environment failed`.",
    "reason": "Why, in one line for a person.",
    "findings": "A list with a row for each device failure and each silent finding.",
    "fixes": "How many verified fixes are in the artifact.",
    "began": "When, in seconds since the epoch.",
    "seconds": "The wall time of the whole job.",
    "clone_seconds": "The part of it for the clone.",
    "environment_seconds": "The part of it for the environment.",
    "run_seconds": "The part of it for the command of devfix.",
    "memory": "The peak memory of its processes in bytes, 0 where unknown.",
    "attempts": "How often the job was begun.",
    "node": "The machine.",
    "environment": "The digest of the resolved packages.",
    "python": "The version of Python.",
    "torch": "The version of torch.",
    "stored": "When the result was stored, in nanoseconds; of several rows with one key, the greatest counts.",
}
FINDING = {
    "key": "That of the job.",
    "number": "Counts the findings of the job from 1.",
    "repository": "The name that is shown.",
    "kind": "`raises`, or the kind of a silent finding.",
    "rule": "Empty where no rule explains it.",
    "title": "What is wrong, in one line.",
    "path": "The file of the repository.",
    "line": "The line.",
    "fixed": "Whether a verified fix is in the artifact.",
}


def blocks() -> dict[str, str]:
    """Return the tables by name; a column without a description is an error."""
    return {
        "plan": _table(PLAN, JOB),
        "jobs": _table(RESULTS, RESULT),
        "findings": _table(RESULTS.field("findings").type.value_type, FINDING),
    }


def drift() -> str:
    """Return how the page differs from what the schemas say."""
    now = PAGE.read_text("utf-8")
    return "".join(difflib.unified_diff(now.splitlines(True), filled(now, blocks()).splitlines(True)))


def _table(columns: Iterable[pa.Field], meanings: dict[str, str]) -> str:
    rows = [f"| `{each.name}` | {_type(each.type)} | {meanings[each.name]} |" for each in columns]
    return "\n".join(["| column | type | meaning |", "|---|---|---|", *rows])


def _type(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"list of {_type(kind.value_type)}"
    return "struct" if pa.types.is_struct(kind) else str(kind)


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text("utf-8"), blocks()), "utf-8")
