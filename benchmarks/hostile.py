"""Repair programs whose obvious patch is wrong, and count the repairs that are.

usage: python benchmarks/hostile.py [--jobs N] [--verbose] [FILE.programs ...] [NAME ...]

A file has programs, each `##### NAME`, then `#### PATH` and the file's text. `#### RUN COMMAND` says how it is run,
`#### OTHER COMMAND` names another way into the repository, `#### NEVER REGEX` what no added line may match. A repair is
wrong where a command that ran before fails or prints something else with it, where the program prints something else on
a GPU than without one, or where an added line matches. Without a file, those of tests/hostile are taken.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from needed import need
from repairs import branch_diff, make_repository, repair

PROGRAMS = Path(__file__).parents[1] / "tests" / "hostile"
DEVFIX = Path(sys.executable).with_name("devfix")
LIMIT = 3600.0  # seconds; a busy machine takes long, and that is no fault of a repair
WORLDS = ("cpu", "simulated")
DEVICE = re.compile(r"\b(cuda|cpu)(:\d+)?\b")
DURATION = re.compile(r"\b\d+\.\d+ ?s\b")  # as pytest tells it: another one in each run
Told = tuple[int, str]


@dataclass
class Program:
    """One program: its files, how it is run, and what else must not break."""

    name: str
    files: dict[str, str] = field(default_factory=dict)
    run: str = "python main.py"
    gpus: int = 1
    others: list[str] = field(default_factory=list)
    never: list[str] = field(default_factory=list)
    differs: bool = False


@dataclass(frozen=True)
class Result:
    """What became of a program; `wrong` says in what a repair is wrong, and is empty where it is right or none."""

    name: str
    outcome: str
    rule: str = ""
    wrong: tuple[str, ...] = ()
    diff: str = ""


def read_programs(text: str) -> Iterator[Program]:
    """Yield the programs of a file."""
    for part in re.split(r"^##### ", text, flags=re.MULTILINE)[1:]:
        name, _, body = part.partition("\n")
        program = Program(name.strip())
        for section in re.split(r"^#### ", body, flags=re.MULTILINE)[1:]:
            head, _, content = section.partition("\n")
            word, _, rest = head.partition(" ")
            if word == "RUN":
                program.run = rest.strip()
            elif word == "OTHER":
                program.others.append(rest.strip())
            elif word == "NEVER":
                program.never.append(rest.strip())
            elif word == "DIFFERS":
                program.differs = True
            elif word == "OPT":
                program.gpus = int(rest.split()[-1])
            else:
                program.files[head.strip()] = content
        yield program


def judge(program: Program) -> Result:
    """Repair a copy of a program and look for what is wrong with the repair."""
    with tempfile.TemporaryDirectory(prefix="devfix-hostile-") as temporary:
        source, folder = Path(temporary) / "source", Path(temporary) / program.name
        for path, text in program.files.items():
            (source / path).parent.mkdir(parents=True, exist_ok=True)
            (source / path).write_text(text, encoding="utf-8")
        make_repository(source, folder)
        arguments = ["--run", program.run, "--world", "simulated", "--gpus", str(program.gpus)]
        report, _ = repair(folder, arguments, limit=LIMIT)
        diff = branch_diff(folder, report)
        if report["outcome"] != "repaired":
            return Result(program.name, report["outcome"], diff=diff)
        rules = ", ".join(fix["rule"] for fix in report["fixes"])
        wrong = tuple(_wrong(program, folder, report["branch"], diff))
        return Result(program.name, report["outcome"], rules, wrong, diff)


def _wrong(program: Program, folder: Path, branch: str, diff: str) -> Iterator[str]:
    added = [line[1:] for line in diff.splitlines() if line.startswith("+") and not line.startswith("+++")]
    for regex in program.never:
        yield from (f"adds {line.strip()!r}" for line in added if re.search(regex, line))
    for command in (program.run, *program.others):
        before = {world: _ran(program, folder, "HEAD", command, world) for world in WORLDS}
        after = {world: _ran(program, folder, branch, command, world) for world in WORLDS}
        for world in WORLDS:
            if before[world][0] == 0 and after[world] != before[world]:
                yield f"{command} on {world}: {before[world]} before, {after[world]} now"
        if command == program.run and not program.differs and after["cpu"] != after["simulated"]:
            yield f"{command} prints {after['simulated'][1]!r} on a GPU, {after['cpu'][1]!r} without one"


def _ran(program: Program, folder: Path, ref: str, command: str, world: str) -> Told:
    """Run a command in a clone at a commit; returns its exit code and what it printed, devices left out."""
    with tempfile.TemporaryDirectory(prefix="devfix-hostile-") as temporary:
        clone = Path(temporary) / "clone"
        subprocess.run(["git", "clone", "-q", str(folder), str(clone)], check=True, capture_output=True)
        commit = subprocess.run(
            ["git", "rev-parse", ref], cwd=folder, capture_output=True, text=True, check=True
        ).stdout
        subprocess.run(["git", "checkout", "-q", commit.strip()], cwd=clone, check=True, capture_output=True)
        added = ["git", "diff", "--name-only", "-z", "--diff-filter=A", "origin/HEAD", commit.strip()]
        for path in subprocess.run(added, cwd=clone, capture_output=True, text=True, check=True).stdout.split("\0"):
            if path:  # the test of a fix, which pytest would count
                (clone / path).unlink()
        words = [str(DEVFIX), "run", "--world", world, "--python", sys.executable]
        words += ["--gpus", str(program.gpus)] if world != "cpu" else []
        done = subprocess.run([*words, "--", *command.split()], cwd=clone, capture_output=True, text=True)
        return done.returncode, DURATION.sub("a time", DEVICE.sub("device", done.stdout.strip()))


def main() -> int:
    """Print a line for each program and the count; 1 where a repair is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="files of programs, and parts of names (default: all)")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--verbose", action="store_true", help="print the diff of each repair")
    asked = parser.parse_args()
    need("devfix", "torch")
    files = [Path(name) for name in asked.names if name.endswith(".programs")] or sorted(PROGRAMS.glob("*.programs"))
    names = [name for name in asked.names if not name.endswith(".programs")]
    programs = [each for file in files for each in read_programs(file.read_text(encoding="utf-8"))]
    programs = [each for each in programs if not names or any(name in each.name for name in names)]
    wrong = repaired = 0
    with ThreadPoolExecutor(asked.jobs) as pool:
        for result in pool.map(judge, programs):
            wrong += bool(result.wrong)
            repaired += result.outcome == "repaired"
            print(f"{result.name}: {'WRONG' if result.wrong else result.outcome}  {result.rule}", flush=True)
            print(*(f"    {each}" for each in result.wrong), sep="\n", end="\n" if result.wrong else "", flush=True)
            if asked.verbose and result.diff:
                print(result.diff, flush=True)
    print(f"\n{wrong} wrong of {len(programs)}; {repaired} repaired")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
