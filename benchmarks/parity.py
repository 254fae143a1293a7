"""Parity of simulated GPUs: run whole test suites on the CPU and on simulated cuda:0, and compare test by test.

    python benchmarks/parity.py suites.toml [--only NAME] [--out results] [--table docs/parity.md]

`suites.toml` points at clones, each in an environment that has its dependencies and pytest:

    [kornia]
    folder = "~/clones/kornia"
    revision = "b4f5a78a13"                        # told in the table
    python = "~/clones/venv/bin/python"           # default: the one that runs this
    tests = ["tests/color", "tests/losses"]
    cpu = ["--device", "cpu"]                      # what the suite is told to run on the CPU
    cuda = ["--device", "cuda"]                    # and on the GPU; beside these it is given --gpus
    gpus = 1
    environment = { KORNIA_TEST_RUNSLOW = "true" }
    [kornia.causes]                                # written by hand, when a difference has been looked into
    "a part of a test's name or of its error" = "the cause: ours, theirs, or CUDA's"

The tests' results lie in the folder `--out`, one JSON object a line; a suite whose results are there is not run again.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SOURCE = Path(__file__).resolve().parent.parent / "src"
_WRITTEN = "DEVFIX_PARITY_RESULTS"
_RANK = {"passed": 0, "skipped": 1, "failed": 2}
Results = dict[str, dict[str, str]]


def pytest_runtest_logreport(report: Any) -> None:
    """Write what became of a test: this file is the plugin of the runs that it starts."""
    words = str(report.longrepr.reprcrash.message) if hasattr(report.longrepr, "reprcrash") else str(report.longrepr)
    if report.when == "call" or report.outcome != "passed":
        told = {"test": report.nodeid, "outcome": report.outcome, "words": words[:500] if report.longrepr else ""}
        with open(os.environ[_WRITTEN], "a", encoding="utf-8") as file:
            file.write(json.dumps(told) + "\n")


def run(suite: dict[str, Any], where: str, written: Path) -> None:
    """Run a suite on "cpu" or "cuda"."""
    unfinished = written.with_suffix(".unfinished")
    unfinished.unlink(missing_ok=True)
    python = os.path.expanduser(suite.get("python", sys.executable))
    extra = list(suite.get(where, ()))
    command = [
        python,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "parity",
        "--tb=line",
        "--color=no",
        *suite["tests"],
    ]
    if where == "cuda":
        plugin = "import importlib.metadata as m; print(len(m.entry_points(group='pytest11', name='devfix-gpus')))"
        asked = subprocess.run([python, "-c", plugin], capture_output=True, text=True, check=True)
        command += [] if asked.stdout.strip() != "0" else ["-p", "devfix.suite.plugin"]
        command += ["--gpus", str(suite.get("gpus", 1)), "--world", "simulated"]
    paths = [str(SOURCE), str(Path(__file__).resolve().parent)]
    environment = {**os.environ, **suite.get("environment", {}), _WRITTEN: str(unfinished)}
    environment["PYTHONPATH"] = os.pathsep.join([*paths, *filter(None, [os.environ.get("PYTHONPATH")])])
    began, worked = time.monotonic(), _processor_seconds()
    with open(written.with_suffix(".log"), "w", encoding="utf-8") as log:
        folder = Path(suite["folder"]).expanduser()
        ended = subprocess.run([*command, *extra], cwd=folder, env=environment, stdout=log, stderr=log, check=False)
    told = {"seconds": round(time.monotonic() - began, 1), "exit": ended.returncode}
    told["processor"] = round(_processor_seconds() - worked, 1)
    with unfinished.open("a", encoding="utf-8") as file:
        file.write(json.dumps(told) + "\n")
    os.replace(unfinished, written)


def _processor_seconds() -> float:
    """Return what the programs that were started have used: on a shared machine a clock tells less."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def read(written: Path) -> tuple[Results, dict[str, Any]]:
    """Return what became of each test, by a name that is the same on every device, and how the run ended."""
    results: Results = {}
    end: dict[str, Any] = {}
    for line in written.read_text("utf-8").splitlines():
        told = json.loads(line)
        if "seconds" in told:
            end = told
            continue
        name = re.sub(r"(?<![A-Za-z])(cuda(:0|0)?|cpu)(?![A-Za-z])|CUDA|CPU", "*", told["test"])
        known = results.get(name)
        if known is None or _RANK[known["outcome"]] < _RANK[told["outcome"]]:
            results[name] = told
    return results, end


def differences(host: Results, cuda: Results) -> dict[str, str]:
    """Return the tests that pass on the CPU and do not on the GPU, with the words of their failure, and the reverse."""
    found = {}
    for name, told in host.items():
        there = cuda.get(name, {"outcome": "not run", "words": ""})
        if "passed" in (told["outcome"], there["outcome"]) and told["outcome"] != there["outcome"]:
            words = there["words"] if told["outcome"] == "passed" else f"(fails on the CPU) {told['words']}"
            found[name] = f"{there['outcome']}: {' '.join(words.split())[:200]}"
    return found


def cause(name: str, words: str, causes: dict[str, str]) -> str:
    """Return the cause of a difference, "" where nobody has looked into it."""
    return next((cause for part, cause in causes.items() if part in name or part in words), "")


def main() -> int:
    """Run what has not been run, and write the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("suites", type=Path)
    options.add_argument("--only", action="append", help="this suite alone (may be given again)")
    options.add_argument("--out", type=Path, default=Path("parity-results"))
    options.add_argument("--table", type=Path, help="write the table to this file instead of the terminal")
    given = options.parse_args()
    suites = tomllib.loads(given.suites.read_text("utf-8"))
    out = given.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    rows, lists = [], []
    for name, suite in suites.items():
        if given.only and name not in given.only:
            continue
        for where in ("cpu", "cuda"):
            if not (out / f"{name}-{where}.jsonl").exists():
                run(suite, where, out / f"{name}-{where}.jsonl")
        row, differing = compared(name, suite, out)
        rows.append(row)
        lists += differing
    text = page(rows, lists)
    if given.table:
        given.table.write_text(text, "utf-8")
    else:
        print(text)
    return 0


def compared(name: str, suite: dict[str, Any], out: Path) -> tuple[str, list[str]]:
    """Return a suite's row of the table, and the lines about the tests that differ."""
    (host, host_end), (cuda, cuda_end) = (read(out / f"{name}-{where}.jsonl") for where in ("cpu", "cuda"))
    shared = [test for test, told in host.items() if told["outcome"] == "passed"]
    both = sum(cuda.get(test, {}).get("outcome") == "passed" for test in shared)

    def count(results: Results, outcome: str) -> int:
        return sum(told["outcome"] == outcome for told in results.values())

    seconds = [end["processor"] for end in (host_end, cuda_end)]
    times = f"{seconds[1] / max(seconds[0], 0.1):.2f}"
    title = f"{name} {suite.get('revision', '')[:10]}".strip()
    row = (
        f"| {title} | {suite.get('gpus', 1)} | {count(host, 'passed')} | {count(host, 'failed')} | "
        f"{seconds[0]} | {count(cuda, 'passed')} | {count(cuda, 'failed')} | {seconds[1]} | "
        f"{times} | {both} of {len(shared)} |"
    )
    differing = differences(host, cuda)
    groups: dict[tuple[str, str], list[str]] = {}
    for test, words in differing.items():
        told = cause(test, words, suite.get("causes", {}))
        groups.setdefault((told, "" if told else words), []).append(test)
    lines = [f"### {name}\n"] if differing else []
    for (told, words), tests in sorted(groups.items(), key=lambda item: -len(item[1])):
        head = told or f"not looked into yet: `{words.replace('`', chr(39))}`"
        lines.append(f"- {head} ({len(tests)}): " + ", ".join(f"`{test}`" for test in tests[:60]))
    return row, lines


def page(rows: list[str], lists: list[str]) -> str:
    """Return the document."""
    head = (
        "| suite | GPUs | passed (CPU) | failed (CPU) | seconds (CPU) | passed (simulated) | failed (simulated) | "
        "seconds (simulated) | times | passing on both |"
    )
    rule = "|" + "|".join([" --- ", *[" ---: "] * 9]) + "|"
    told = (
        "# Parity\n\nWhole test suites of public projects on the CPU and on simulated `cuda:0`, made by "
        "`benchmarks/parity.py`.\nSeconds are those of the processor, the start included. A test passes on both when "
        "the CPU's pass is one on the simulated GPU.\n"
    )
    rest = ["", "## What passes on the one and not on the other\n", *lists] if lists else []
    return "\n".join([told, head, rule, *rows, *rest]) + "\n"


if __name__ == "__main__":
    sys.exit(main())
