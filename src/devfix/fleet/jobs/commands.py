"""The commands of devfix that a job runs, each below a supervisor, with what is left of the job's limits."""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

import devfix
from devfix.environments.request import NEEDED, NEEDED_BY_NOTEBOOKS, NEEDED_BY_TESTS
from devfix.fleet.jobs.ending import Ended, ended_by_limit
from devfix.fleet.jobs.folders import JobFolder
from devfix.fleet.jobs.variables import job_variables, node_variables
from devfix.fleet.records import Job
from devfix.model import JobMode, JobOutcome
from devfix.process import Completed, ResourceLimits, Sandbox, interpreter_folders, run
from devfix.report.plain import one_line

GIGABYTE = 1_000_000_000
_PROCESSES = 1000


@dataclass(frozen=True)
class Interpreter:
    """The interpreter of a program; `digest` names the packages of its environment, "" for one of the node's own."""

    path: Path
    version: str = ""
    torch: str = ""
    digest: str = ""


class Commands:
    """Runs devfix for one job; `memory` is the most bytes that any of the commands took."""

    def __init__(self, job: Job, folder: JobFolder, deadline: float) -> None:
        """Run until the deadline, a time of `time.monotonic`."""
        self.job, self.folder, self.deadline, self.memory = job, folder, deadline, 0

    @property
    def seconds_left(self) -> float:
        """The rest of the job's time."""
        return max(0.1, self.deadline - time.monotonic())

    def environment(self) -> Interpreter:
        """Return the interpreter of the program, with a new environment where the job names none. Raises Ended.

        Foreign code runs only where a package has to be built: then all is done again, in the sandbox, with caches of
        the job's own that no other job will read.
        """
        if self.job.python:
            return Interpreter(Path(self.job.python))
        words = ["env", str(self._program), "--format", "json", *self._packages()]
        done = self._run(_devfix(*words, "--no-build"), node_variables(self.folder), 0)
        found = _environment(done)
        if found.get("needs_build"):
            variables = self._variables(network=True)
            found = _environment(self._run(self._inside(_devfix(*words), (), network=True), variables))
        listed = found.get("packages")
        packages = list(map(str, listed)) if isinstance(listed, list) else []
        torch = next((line.partition("==")[2] for line in packages if line.startswith("torch==")), "")
        version = str(found.get("version", ""))
        return Interpreter(Path(str(found["python"])), version[:100], torch[:100], _digest(packages))

    def program(self, python: Interpreter) -> Completed:
        """Run the command of the job's mode, in the sandbox unless the job has none; raise Ended if a limit ends it."""
        job = self.job
        words = [job.mode.value, str(self._program), "--python", str(python.path), "--format", "json"]
        words += ["--output", str(self.folder.artifact), *(("--run", job.run) if job.run else ()), *job.options]
        if job.mode is JobMode.REPAIR:
            words += ["--no-sandbox"]  # the job is in one already, or is to run without
        command = self._inside(_devfix(*words), interpreter_folders(python.path), job.network)
        return self._run(command, self._variables(job.network))

    def _variables(self, network: bool) -> dict[str, str]:
        return job_variables(self.folder, self.job.limits, network, self.job.sandbox)

    @property
    def _program(self) -> Path:
        return self.folder.repository / self.job.subfolder

    def _packages(self) -> Iterator[str]:
        notebooks = ".ipynb" in self.job.run
        needed = NEEDED_BY_TESTS if self.job.mode is JobMode.FIND else NEEDED_BY_NOTEBOOKS if notebooks else NEEDED
        for each in (*needed, *self.job.packages):
            yield from ("--with", each)
        if self.job.torch:
            yield from ("--torch", self.job.torch)

    def _inside(self, command: Sequence[str], needed: Iterator[Path] | tuple[Path, ...], network: bool) -> list[str]:
        if not self.job.sandbox:
            return list(command)
        shared = int(self.job.limits.memory * GIGABYTE) // 2
        readable = [*_own_folders(), *needed]
        sandbox = Sandbox([self.folder.files], readable, False, network, True, self.folder.temporary, shared)
        return sandbox.around(command, self.folder.files)

    def _run(self, command: Sequence[str], variables: dict[str, str], disk: int | None = None) -> Completed:
        limits = self.job.limits
        size = int(limits.disk * GIGABYTE)
        bounds = ResourceLimits(
            memory=int(limits.memory * GIGABYTE),
            processes=_PROCESSES,
            file_size=2 * size,
            disk=size if disk is None else disk,
        )
        done = run(command, self.folder.files, variables, self.seconds_left, bounds)
        self.memory = max(self.memory, done.memory)
        ended_by_limit(done, limits)
        return done


def _devfix(*words: str) -> list[str]:
    # Isolated: the current folder, in which the job can write, is no place for modules.
    return [sys.executable, "-I", "-m", "devfix", *words]


def _own_folders() -> Iterator[Path]:
    """Yield the folders that devfix itself needs: its interpreter, its packages and its rules."""
    yield from interpreter_folders(Path(sys.executable))
    yield from (Path(sys.prefix), Path(sys.base_prefix), Path(devfix.__file__).parent)
    for pack in entry_points(group="devfix.rules"):
        spec = find_spec(pack.module)
        yield from (Path(each).parent for each in (spec.submodule_search_locations or () if spec else ()))


def _environment(done: Completed) -> dict[str, object]:
    """Return what `devfix env` printed; raise Ended if it failed."""
    try:
        found = json.loads(done.stdout) if done.exit_code in (0, 1) else None
    except ValueError:
        found = None
    if isinstance(found, dict) and "python" in found:
        return found
    lines = [line.removeprefix("devfix: ") for line in done.stderr.splitlines() if line.startswith("devfix: ")]
    reason = lines[-1] if lines else done.internal_error or "devfix env failed"
    raise Ended(JobOutcome.ENVIRONMENT_FAILED, one_line(reason))


def _digest(packages: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(sorted(packages)).encode()).hexdigest()[:24]
