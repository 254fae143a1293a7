"""Run small programs under the real probe, and read the letters they leave."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from waiting import HANGS

from devfix.execution.prefork import Warm
from devfix.process import Completed, child_environment, run

ENTRY = Path(__file__).parents[2] / "src" / "devfix" / "probe" / "entry"
PYTHON = Path(sys.executable)


@dataclass(frozen=True)
class Ran:
    """A program that has run, with the letters of its processes, the first process's first."""

    done: Completed
    letters: list[dict[str, Any]]
    folder: Path

    @property
    def letter(self) -> dict[str, Any]:
        parents = {letter["process"]["parent"] for letter in self.letters}
        roots = [letter for letter in self.letters if letter["process"]["pid"] in parents]
        assert self.letters, self.done.stderr
        return (roots or self.letters)[0]

    @property
    def failure(self) -> dict[str, Any]:
        failure: dict[str, Any] = self.letter["failure"]
        assert failure is not None, (self.done.stdout, self.done.stderr)
        return failure

    def operand(self, argument: str) -> dict[str, Any]:
        return next(operand for operand in self.failure["operands"] if operand["argument"] == argument)

    def text(self, place: Mapping[str, Any]) -> str:
        """The source of a place on one line."""
        line = Path(place["path"]).read_bytes().splitlines()[place["line"] - 1]
        return line[place["column"] : place["end_column"]].decode()

    def birth(self, argument: str) -> str:
        """The source of the expression in which an operand was born."""
        return self.text(self.operand(argument)["history"][0]["places"][0])


def environment(
    folder: Path, world: str = "simulated", gpus: int = 1, current: int = 0, **order: Any
) -> dict[str, str]:
    """What the tower gives to a program in `folder`, its letters below it."""
    (folder / "letters").mkdir(exist_ok=True)
    told = {
        "world": {"kind": world, "gpus": gpus, "current": current},
        "letters": str(folder / "letters"),
        "owned": str(folder / "repository"),
        "original": str(folder / "repository"),
        **order,
    }
    return {**child_environment(), "DEVFIX_PROBE": json.dumps(told), "PYTHONPATH": str(ENTRY)}


def run_program(
    folder: Path,
    source: str,
    command: Sequence[str] = ("program.py",),
    files: Mapping[str, str] | None = None,
    warm: Warm | None = None,
    timeout: float = HANGS,
    **order: Any,
) -> Ran:
    """Write `program.py` (and other files) into a repository below `folder` and run it, `command` after `python`."""
    repository = folder / "repository"
    repository.mkdir(exist_ok=True)
    for name, text in {"program.py": source, **(files or {})}.items():
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(textwrap.dedent(text).lstrip("\n"))
    surroundings = environment(folder, **order)
    if warm is not None:
        done = warm.run(Path(command[0]), command[1:], repository, surroundings, timeout)
    else:
        done = run([str(PYTHON), *command], repository, surroundings, timeout)
    letters = [json.loads(path.read_bytes()) for path in sorted((folder / "letters").glob("*.json"))]
    return Ran(done, letters, repository)
