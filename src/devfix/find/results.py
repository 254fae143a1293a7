"""What pytest's plugin has written of a run -> what came of each test."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FILE = "results.jsonl"
_WORSE = ("passed", "skipped", "other", "failed", "artefact", "finding")  # the last one that a test has counts


@dataclass(frozen=True)
class SilentFinding:
    """What a test that passes has shown: `path` is absolute, `call` the function that the test has called."""

    kind: str
    path: str
    line: int
    function: str
    call: str


@dataclass
class TestResults:
    """`results` maps tests to a word: passed, skipped, failed, other, artefact, finding, or ended (the process)."""

    __test__ = False

    collected: int = 0
    root: str = ""
    results: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    collection: dict[str, str] = field(default_factory=dict)
    silent: dict[str, list[SilentFinding]] = field(default_factory=dict)
    running: str = ""

    def of(self, *results: str) -> list[str]:
        """Return the tests with one of some results."""
        return [test for test, result in self.results.items() if result in results]


def read_results(folder: Path) -> TestResults:
    """Read what is there so far; a line that is being written is left for later."""
    told = TestResults()
    try:
        lines = (folder / FILE).read_text("utf-8", "replace").splitlines()
    except OSError:
        return told
    for line in lines:
        try:
            _take(told, json.loads(line))
        except ValueError:
            continue
    return told


def _take(told: TestResults, raw: dict[str, Any]) -> None:
    if "collected" in raw:
        told.collected, told.root = int(raw["collected"]), str(raw.get("root", ""))
    elif "begins" in raw:
        told.running = str(raw["begins"])
    elif raw.get("result") == "collection":
        told.collection[str(raw["test"])] = str(raw.get("reason", ""))
    else:
        test, result = str(raw["test"]), str(raw["result"])
        found = [_silent(each) for each in raw.get("silent") or ()]
        told.silent.setdefault(test, []).extend(found)
        before = told.results.get(test)
        if result not in _WORSE or (before is not None and _WORSE.index(before) >= _WORSE.index(result)):
            return
        told.results[test], told.reasons[test] = result, str(raw.get("reason", ""))


def _silent(raw: dict[str, Any]) -> SilentFinding:
    return SilentFinding(str(raw["kind"]), str(raw["path"]), int(raw["line"]), str(raw["function"]), str(raw["call"]))
