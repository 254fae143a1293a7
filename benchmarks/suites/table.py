"""The document docs/explanation/parity.md, made from the results of the suites."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .comparing import Results, cause, differences, needing, read, times

_COLUMNS = (
    "suite",
    "GPUs",
    "passed (CPU)",
    "failed (CPU)",
    "seconds (CPU)",
    "passed (simulated)",
    "failed (simulated)",
    "seconds (simulated)",
    "times",
    "times, tests on both",
    "passing on both",
    "more on GPUs",
    "explained",
)
_SHOWN = 60
_TOLD = """# Parity

Whole test suites of public projects on the CPU and on simulated GPUs, made by `benchmarks/parity.py`, which says how.
Seconds are those of the processor, the start included; "times, tests on both" leaves out the start, and what is run on
one side alone. A test passes on both when the CPU's pass is one on the GPUs; "more on GPUs" are those that pass there
and are not run on the CPU, since they need a GPU. All others that end otherwise on the GPUs than on the CPU are listed,
with their cause.
"""


def compared(name: str, suite: dict[str, Any], out: Path) -> tuple[str, list[str]]:
    """Return a suite's row of the table, and the lines about the tests that differ."""
    written = (out / f"{name}-{where}.jsonl" for where in ("cpu", "cuda"))
    (host, host_end), (cuda, cuda_end) = (read(each, suite.get("varying", "")) for each in written)
    differing = differences(host, cuda)
    groups: dict[tuple[str, str], list[str]] = {}
    for test, words in differing.items():
        told = cause(test, words, suite.get("causes", {}))
        groups.setdefault((told, "" if told else words), []).append(test)
    passing = [test for test, told in host.items() if told["outcome"] == "passed"]
    both = sum(cuda.get(test, {}).get("outcome") == "passed" for test in passing)
    seconds = [end["processor"] for end in (host_end, cuda_end)]
    explained = sum(len(tests) for (told, _), tests in groups.items() if told)
    cells = (
        f"{name} {_revision(suite, cuda_end)[:10]}".strip(),
        suite.get("gpus", 1),
        *(_count(host, outcome) for outcome in ("passed", "failed")),
        seconds[0],
        *(_count(cuda, outcome) for outcome in ("passed", "failed")),
        seconds[1],
        f"{seconds[1] / max(seconds[0], 0.1):.2f}",
        times(host, cuda),
        f"{both} of {len(passing)}",
        needing(host, cuda),
        f"{explained} of {len(differing)}" if differing else "",
    )
    ends = [
        f"The run on {side} ended with {end['exit']}.\n"
        for side, end in (("the CPU", host_end), ("simulated GPUs", cuda_end))
        if end["exit"] not in (0, 1)
    ]
    ends += [f"Run with devfix {cuda_end['devfix']}.\n"] if cuda_end.get("devfix") else []
    return f"| {' | '.join(map(str, cells))} |", _listed(name, suite, groups, ends)


def _revision(suite: dict[str, Any], end: dict[str, Any]) -> str:
    """Return the commit that was run: as git says, where the suite does not tell."""
    return str(suite.get("revision") or end.get("revision", ""))


def _count(results: Results, outcome: str) -> int:
    return sum(told["outcome"] == outcome for told in results.values())


def _listed(name: str, suite: dict[str, Any], groups: dict[tuple[str, str], list[str]], ends: list[str]) -> list[str]:
    lines = [f"### {name}\n"]
    lines += [f"{' '.join(suite['told'].split())}\n"] if suite.get("told") else []
    lines += ends
    for (told, words), tests in sorted(groups.items(), key=lambda item: -len(item[1])):
        head = told or f"not looked into yet: `{words.replace('`', chr(39))}`"
        more = f" and {len(tests) - _SHOWN} more" if len(tests) > _SHOWN else ""
        lines.append(f"- {head} ({len(tests)}): " + ", ".join(f"`{test}`" for test in tests[:_SHOWN]) + more)
    return [*lines, ""] if len(lines) > 1 else []


def page(rows: Iterable[str], lists: Iterable[str]) -> str:
    """Return the document."""
    head = f"| {' | '.join(_COLUMNS)} |"
    rule = "|" + "|".join([" --- ", *[" ---: "] * (len(_COLUMNS) - 1)]) + "|"
    rest = ["", "## What passes on the one and not on the other\n", *lists] if lists else []
    return "\n".join([_TOLD, head, rule, *rows, *rest]).rstrip() + "\n"
