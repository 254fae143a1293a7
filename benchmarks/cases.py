"""One case of the corpus: read what must come of it, repair a copy of it, say where the result falls short."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# What may be written over several lines and is one place all the same.
SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return, ast.Call)
HUNK = re.compile(r"@@ -(\d+)")


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
    exclude: tuple[str, ...] = ()
    outcome: str = "repaired"
    commits: int | list[int] | None = None
    rules: tuple[str, ...] = ()
    places: tuple[list[str], ...] = ()
    idiom: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
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
    faults: tuple[str, ...] = ()


def read_case(folder: Path) -> Case:
    """The case in a folder. Raises TypeError for a key that no case has."""
    return Case(folder, **tomllib.loads((folder / "case.toml").read_text(encoding="utf-8")))


def make_repository(files: Path, folder: Path) -> None:
    """Copy a program to a folder, which becomes a git repository with one commit."""
    shutil.copytree(files, folder, ignore=shutil.ignore_patterns("case.toml", "__pycache__"))
    identity = ("-c", "user.name=corpus", "-c", "user.email=corpus@localhost")
    for command in (("init", "--quiet"), ("add", "--all"), (*identity, "commit", "--quiet", "--message", "case")):
        subprocess.run(("git", "-C", folder, *command), check=True, capture_output=True)


def repair(folder: Path, arguments: list[str], limit: float = 300) -> tuple[dict[str, Any], float]:
    """The report of `devfix repair` on a folder, and the seconds it took; `outcome` is "crashed" where none came."""
    command = [sys.executable, "-m", "devfix", "repair", str(folder), *arguments, "--format", "json"]
    began = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
        report = json.loads(done.stdout) if done.stdout.startswith("{") else {}
        report = report or {"outcome": "crashed", "notes": [done.stderr[-2000:]]}
    except subprocess.TimeoutExpired:
        report = {"outcome": "crashed", "notes": [f"no report within {limit:.0f} s"]}
    return report, time.monotonic() - began


def judge(case: Case) -> Result:
    """Repair a copy of the case and hold the report against what the case says."""
    with tempfile.TemporaryDirectory(prefix="devfix-corpus-") as temporary:
        folder = Path(temporary) / case.name
        make_repository(case.folder, folder)
        arguments = ["--run", case.run, "--world", "simulated", "--gpus", str(case.gpus)]
        report, seconds = repair(folder, arguments + [f"--exclude={glob}" for glob in case.exclude])
        return result_of(case, report, branch_diff(folder, report), seconds, case.folder)


def branch_diff(folder: Path, report: dict[str, Any]) -> str:
    """What the branch of a report changes, as git tells it: the report's own word is not taken for it."""
    if not report.get("branch"):
        return ""
    command = ("git", "-C", folder, "diff", "--no-ext-diff", "--unified=1", f"HEAD...{report['branch']}")
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


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
    )
    return Result(**{**result.__dict__, "faults": tuple(_faults(result, program))})


def _faults(result: Result, program: Path) -> Iterator[str]:
    """Where a result falls short of its case, in single words."""
    case = result.case
    if result.outcome != case.outcome:
        yield "outcome"
    if len(result.rules) not in case.wanted_commits:
        yield "commits"
    if case.rules and not set(result.rules) <= set(case.rules):
        yield "rule"
    if result.rules and not _in_place(case, changes(result.diff), program):
        yield "place"
    added = [line[1:] for line in result.diff.splitlines() if line.startswith("+") and not line.startswith("+++")]
    text = "\n".join(added)
    if result.rules and not all(re.search(idiom, text) for idiom in case.idiom):
        yield "idiom"
    if any(re.search(never, line) for never in case.never for line in added):
        yield "never"
    if any(outcome != "clean" and world not in case.fails for world, outcome in result.worlds.items()):
        yield "worlds"
    if case.copies is not None and result.copies and result.copies[1] > case.copies:
        yield "copies"


def changes(diff: str) -> list[tuple[str, frozenset[int]]]:
    """Each run of changed lines in a unified diff: the file and the lines of its old version at which it stands."""
    found: list[tuple[str, frozenset[int]]] = []
    path, line, touched = "", 0, set[int]()
    for text in [*diff.splitlines(), " "]:
        if touched and not text.startswith(("-", "+")):
            found.append((path, frozenset(touched)))
            touched = set()
        if text.startswith("--- "):
            path = text[4:].removeprefix("a/")
        elif match := HUNK.match(text):
            line = int(match[1])
        elif text.startswith("-"):
            touched.add(line)
            line += 1
        elif text.startswith("+") and not text.startswith("+++"):
            touched |= touched or {line - 1, line}
        elif text.startswith(" "):
            line += 1
    return found


def _in_place(case: Case, edits: list[tuple[str, frozenset[int]]], program: Path) -> bool:
    places = [{line for text in place for line in lines_of(program, text)} for place in case.places]
    if not places:
        return True
    hit = [[(path, line) in place for path, lines in edits for line in lines] for place in places]
    allowed = set[tuple[str, int]]().union(*places)
    return all(any(each) for each in hit) and all(any((path, n) in allowed for n in lines) for path, lines in edits)


def lines_of(program: Path, place: str) -> Iterator[tuple[str, int]]:
    """The lines at which an edit is at a place: the one it names, and the rest of the statement or call begun there."""
    path, line = line_of(program, place)
    yield path, line
    tree = ast.parse((program / path).read_bytes()) if path.endswith(".py") else ast.Module([], [])
    for node in ast.walk(tree):
        if isinstance(node, SIMPLE) and node.lineno == line:
            yield from ((path, further) for further in range(line, (node.end_lineno or line) + 1))


def line_of(program: Path, place: str) -> tuple[str, int]:
    """The file and the line that a place names. Raises ValueError where it names none, or several."""
    path, _, text = place.partition(": ")
    lines = (program / path).read_text(encoding="utf-8").splitlines()
    numbers = [number for number, line in enumerate(lines, 1) if text in line]
    if len(numbers) != 1:
        raise ValueError(f"`{place}` names {len(numbers)} lines; it must name one")
    return path, numbers[0]
