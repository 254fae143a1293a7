"""Read the results of tests, which pytest's plugin has written."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from devfix.model import SilentKind

FILE = "results.jsonl"
_WORSE = ("passed", "skipped", "other", "failed", "artefact", "finding")  # the last one that a test has counts


@dataclass(frozen=True)
class SilentFinding:
    """A silent finding of a test that passes: `path` is absolute; `call` is the function that the test has called.

    The tensors on the GPU went in at `entered`. `attribute` keeps the tensor that has not moved. `is_told`: the call
    was told the GPU by its `device`.
    """

    kind: SilentKind
    path: str
    line: int
    function: str
    call: str
    entered: tuple[str, int]
    attribute: str
    is_told: bool = False


@dataclass(frozen=True)
class Served:
    """The location that created the tensor by which a cache failed a test."""

    path: str
    line: int
    function: str


@dataclass
class TestResults:
    """`results` maps tests to a word: passed, skipped, failed, other, artefact, finding, or ended (the process).

    `untold` are the tests that leave a `device` out of calls which make something on the host, `told` those that failed
    by what a call made there though it was told the GPU.
    """

    __test__ = False

    collected: int = 0
    root: str = ""
    results: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    collection: dict[str, str] = field(default_factory=dict)
    silent: dict[str, list[SilentFinding]] = field(default_factory=dict)
    served: dict[str, Served] = field(default_factory=dict)
    untold: set[str] = field(default_factory=set)
    told: set[str] = field(default_factory=set)
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
        told.untold.update([test] if raw.get("untold") else ())
        told.told.update([test] if raw.get("is_told") else ())
        if served := raw.get("served"):
            told.served[test] = Served(str(served["path"]), int(served["line"]), str(served["function"]))
        before = told.results.get(test)
        if result not in _WORSE or (before is not None and _WORSE.index(before) >= _WORSE.index(result)):
            return
        told.results[test], told.reasons[test] = result, str(raw.get("reason", ""))


def _silent(raw: dict[str, Any]) -> SilentFinding:
    entered = raw["entered"]
    return SilentFinding(
        kind=SilentKind(raw["kind"]),
        path=str(raw["path"]),
        line=int(raw["line"]),
        function=str(raw["function"]),
        call=str(raw["call"]),
        entered=(str(entered["path"]), int(entered["line"])),
        attribute=str(raw["attribute"]),
        is_told=bool(raw.get("is_told")),
    )
