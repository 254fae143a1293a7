"""Run small programs under the real probe, and read the traces they leave."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from waiting import HANGS

from devfix.execution.prefork import PreforkServer
from devfix.process import Completed, child_environment, run

ENTRY = Path(__file__).parents[2] / "src" / "devfix" / "probe" / "entry"
PYTHON = Path(sys.executable)


@dataclass(frozen=True)
class Ran:
    """A program that has run, with the traces of its processes, the first process's first."""

    done: Completed
    traces: list[dict[str, Any]]
    folder: Path

    @property
    def trace(self) -> dict[str, Any]:
        parents = {trace["process"]["parent"] for trace in self.traces}
        roots = [trace for trace in self.traces if trace["process"]["pid"] in parents]
        assert self.traces, self.done.stderr
        return (roots or self.traces)[0]

    @property
    def failure(self) -> dict[str, Any]:
        failure: dict[str, Any] = self.trace["failure"]
        assert failure is not None, (self.done.stdout, self.done.stderr)
        return failure

    def operand(self, argument: str) -> dict[str, Any]:
        return next(operand for operand in self.failure["operands"] if operand["argument"] == argument)

    def text(self, place: Mapping[str, Any]) -> str:
        """The source of a place on one line."""
        line = Path(place["path"]).read_bytes().splitlines()[place["line"] - 1]
        return line[place["column"] : place["end_column"]].decode()

    def creation(self, argument: str) -> str:
        """Return the source of the expression that created an operand."""
        return self.text(self.operand(argument)["history"][0]["places"][0])


def environment(
    folder: Path, world: str = "simulated", gpus: int = 1, current: int = 0, **order: Any
) -> dict[str, str]:
    """What the engine gives to a program in `folder`, its traces below it."""
    (folder / "traces").mkdir(exist_ok=True)
    told = {
        "world": {"kind": world, "gpus": gpus, "current": current},
        "traces": str(folder / "traces"),
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
    warm: PreforkServer | None = None,
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
        done = warm.run(command, repository, surroundings, timeout)
    else:
        done = run([str(PYTHON), *command], repository, surroundings, timeout)
    traces = [json.loads(path.read_bytes()) for path in sorted((folder / "traces").glob("*.json"))]
    return Ran(done, traces, repository)
