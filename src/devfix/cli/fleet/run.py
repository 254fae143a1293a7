"""`devfix fleet run`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from devfix.cli.fleet.extra import fleet_extra
from devfix.model import JobOutcome
from devfix.report.plain import one_line

if TYPE_CHECKING:
    from devfix.fleet.planning import Plan
    from devfix.fleet.run import FleetRun

EPILOG = """Examples:

\b
  devfix fleet run fleet.toml
  devfix fleet run fleet.toml --jobs 4 --again "timed out"
  devfix fleet run fleet.toml --address ray://head:10001 --results /data/results
  devfix fleet run fleet.toml --dry-run

The token of a forge is read from GITHUB_TOKEN (or GH_TOKEN), GITLAB_TOKEN, FORGEJO_TOKEN or GITEA_TOKEN, to list and
to read refs. No job has it.

Exit codes: 0 every program runs clean, or is repaired; 1 something remains; 2 usage error; 3 internal error."""


def run(
    file: Annotated[Path, typer.Argument(metavar="FLEET.TOML", help="The repositories, and what is done with each.")],
    results: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder of the results [default: `results` of the file, else fleet-results beside it]",
        ),
    ] = None,
    address: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="A Ray cluster, such as ray://head:10001 [default: start Ray on this machine, for this run]",
            show_default=False,
        ),
    ] = "",
    jobs: Annotated[int | None, typer.Option(metavar="N", min=1, help="Run at most N jobs at the same time.")] = None,
    again: Annotated[
        list[JobOutcome] | None,
        typer.Option(
            metavar="OUTCOME",
            help="Run the jobs that ended so once more, such as 'timed out' or 'environment failed'; repeatable.",
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List the jobs that would run, and run none.")] = False,
) -> int:
    """Repair or search many repositories, each at its current commit.

    A job clones a repository, builds its environment, and runs `devfix repair` or `devfix find` in a sandbox, within
    limits. Results are kept in a folder: a job that has one for the same commit, options and version of devfix is not
    run again, so that the same command continues a run that was interrupted. Jobs that could not be cloned or were
    lost are tried again.
    """
    with fleet_extra():
        if find_spec("ray") is None:  # it is imported late: it reads its variables then
            raise ModuleNotFoundError(name="ray")
        return _run(file, results, RunArguments(address, jobs, tuple(again or ()), dry_run))


@dataclass(frozen=True)
class RunArguments:
    """The options of the command."""

    address: str
    at_once: int | None
    again: Sequence[JobOutcome]
    dry_run: bool


def _run(file: Path, results: Path | None, given: RunArguments) -> int:
    from devfix import __version__
    from devfix.cli.fleet.board import fleet_progress
    from devfix.fleet.cluster import RunOptions
    from devfix.fleet.planning import make_plan, read_fleet_file
    from devfix.fleet.results import ResultStore
    from devfix.fleet.run import run_fleet

    with fleet_progress() as progress:
        fleet = read_fleet_file(file)
        progress.say("reading the refs of the repositories")
        plan = make_plan(fleet, __version__, os.environ, progress.say)
        folder = results or fleet.results
        if given.dry_run:
            return _list(plan, _known_outcomes(folder), given.again)
        _check_sandbox(plan, given.address)
        options = RunOptions(__version__, given.at_once, fleet.retries)
        with closing(ResultStore.create(folder)) as store:
            done = run_fleet(plan.jobs, store, progress, options, given.address, given.again)
    sys.stdout.write(_summary(done, plan, folder))
    return 0 if done.is_well and not plan.unresolved else 1


def _known_outcomes(folder: Path) -> dict[str, JobOutcome]:
    from devfix.fleet.results import ResultStore

    return ResultStore.open(folder).outcomes() if folder.is_dir() and any(folder.iterdir()) else {}


def _list(plan: Plan, ended: dict[str, JobOutcome], again: Sequence[JobOutcome]) -> int:
    from devfix.fleet.run import jobs_to_run

    todo = jobs_to_run(plan.jobs, ended, again)
    lines = [f"{job.mode.value} {one_line(job.repository)} at {job.commit[:12]}" for job in todo]
    lines += [f"left out: {one_line(each)}" for each in plan.unresolved]
    earlier = len(plan.jobs) - len(todo)
    lines.append(f"{_count(len(todo), 'job')} to run, {earlier} with a result")
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 0


def _check_sandbox(plan: Plan, address: str) -> None:
    """Raise UserError if the jobs are to run here in a sandbox and cannot: each of them would say so."""
    from devfix.errors import UserError
    from devfix.process import why_no_sandbox

    if not address and any(job.sandbox for job in plan.jobs) and (why := why_no_sandbox()):
        advice = "with sandbox = false in fleet.toml, the programs run with all of your rights"
        raise UserError(f"jobs cannot run in a sandbox: {why}; {advice}")


def _summary(done: FleetRun, plan: Plan, folder: Path) -> str:
    lines = [f"left out: {one_line(each)}" for each in plan.unresolved]
    lines += [f"{count:>6} {outcome.value}" for outcome, count in done.counts.items()]
    lines.append(f"{_count(len(done.outcomes), 'job')}, {done.ran} run now; results in {folder}")
    return "".join(f"{line}\n" for line in lines)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' if number != 1 else ''}"
