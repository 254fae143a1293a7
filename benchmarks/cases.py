"""One case of the corpus: read what must come of it, repair a copy of it, say where the result falls short."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from places import changes, in_place
from repairs import branch_diff, make_repository, repair

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclass(frozen=True)
class Case:
    """What `case.toml` says; `README.md` of the corpus tells what each key means."""

    folder: Path
    what: str
    kind: str
    trap: bool = False
    quick: bool = False
    run: str = "python main.py"
    gpus: int = 1
    world: str = "simulated"
    exclude: tuple[str, ...] = ()
    outcome: str = "repaired"
    commits: int | list[int] | None = None
    rules: tuple[str, ...] = ()
    places: tuple[list[str], ...] = ()
    idiom: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    copies: int | None = None
    fails: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the case's folder."""
        return self.folder.name

    @property
    def wanted_commits(self) -> list[int]:
        """The numbers of fixes that are all right."""
        if self.commits is None:
            return [1 if self.outcome == "repaired" else 0]
        return [self.commits] if isinstance(self.commits, int) else self.commits


@dataclass(frozen=True)
class Result:
    """What a repair of a case gave; `faults` lists in what it falls short of the case."""

    case: Case
    outcome: str
    rules: tuple[str, ...] = ()
    worlds: dict[str, str] = field(default_factory=dict)
    copies: tuple[int, int] | None = None
    edits: int = 0
    seconds: float = 0.0
    reproduced: bool = False
    diff: str = ""
    rejected: str = ""
    place: str = ""
    faults: tuple[str, ...] = ()


def read_case(folder: Path) -> Case:
    """The case in a folder. Raises TypeError for a key that no case has."""
    return Case(folder, **tomllib.loads((folder / "case.toml").read_text(encoding="utf-8")))


def judge(case: Case) -> Result:
    """Repair a copy of the case and hold the report against what the case says."""
    with tempfile.TemporaryDirectory(prefix="devfix-corpus-") as temporary:
        folder = Path(temporary) / case.name
        make_repository(case.folder, folder)
        arguments = ["--run", case.run, "--world", case.world, *(["--gpus", str(case.gpus)] if case.gpus else [])]
        report, seconds = repair(folder, arguments + [f"--exclude={glob}" for glob in case.exclude])
        return result_of(case, report, branch_diff(folder, report), seconds, case.folder)


def result_of(case: Case, report: dict[str, Any], diff: str, seconds: float, program: Path) -> Result:
    """Hold a report against its case; `program` is the folder of the program as it was."""
    fixes = report.get("fixes", [])
    verdict = fixes[-1]["verdict"] if fixes else {}
    transfers = (fixes[0]["verdict"]["transfers"]["before"], verdict["transfers"]["after"]) if fixes else None
    result = Result(
        case,
        report["outcome"],
        tuple(fix["rule"] for fix in fixes),
        verdict.get("worlds", {}),
        transfers,
        len(changes(diff)),
        seconds,
        bool(report.get("failures")),
        diff or "\n".join(report.get("notes", [])),
        "\n".join(_only_moved(report)),
    )
    return Result(**{**result.__dict__, "faults": tuple(_faults(result, program))})


def _only_moved(report: dict[str, Any]) -> Iterator[str]:
    """What the candidates would have added that were tried and led to another failure of the same cause."""
    for dropped in report.get("rejected", []):
        if "only moves the crash" in dropped["verdict"]["reason"]:
            for edit in dropped["edits"]:
                yield from (line[1:] for line in edit["diff"].splitlines() if line.startswith("+"))


def _faults(result: Result, program: Path) -> Iterator[str]:
    """Where a result falls short of its case, in single words."""
    case = result.case
    if result.outcome != case.outcome:
        yield "outcome"
    if len(result.rules) not in case.wanted_commits:
        yield "commits"
    if case.rules and not set(result.rules) <= set(case.rules):
        yield "rule"
    if result.rules and not in_place(case.places, changes(result.diff), program):
        yield "place"
    added = [line[1:] for line in result.diff.splitlines() if line.startswith("+") and not line.startswith("+++")]
    text = "\n".join(added)
    if result.rules and not all(re.search(idiom, text) for idiom in case.idiom):
        yield "idiom"
    if any(re.search(never, line) for never in case.never for line in added):
        yield "never"
    if not all(re.search(wanted, result.rejected) for wanted in case.rejected):
        yield "rejected"
    if any(outcome != "clean" and world not in case.fails for world, outcome in result.worlds.items()):
        yield "worlds"
    if case.copies is not None and result.copies and result.copies[1] > case.copies:
        yield "copies"
