"""`devfix repair`."""

from __future__ import annotations

import sys
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from devfix.cli.artifact import FolderOption, check_folder, write_artifact
from devfix.cli.formats import ReportFormat, ReportFormatOption, shown
from devfix.cli.local import Local
from devfix.cli.resource_options import FileSize, InSandbox, Memory, OutputLimit, Processes
from devfix.errors import UserError
from devfix.model import Outcome, Report, WorldChoice


class Format(str, Enum):
    """How a report is printed."""

    text = "text"
    json = "json"


Gpus = Annotated[int | None, typer.Option(metavar="N", min=1, max=64, help="GPUs that the program sees [default: 1]")]
WorldOption = Annotated[
    WorldChoice,
    typer.Option(
        metavar="auto|real|simulated|cpu", help="Real GPUs, simulated ones, real ones where there are any, or none."
    ),
]
Python = Annotated[
    str | None,
    typer.Option(
        metavar="INTERPRETER",
        help="The program's interpreter, which must have torch: a path, an environment or a name on the PATH "
        "[default: the repository's own .venv or venv, else the one that runs devfix]",
    ),
]
Timeout = Annotated[
    float | None, typer.Option(metavar="SECONDS", help="Stop a run of the program after so long [default: 600]")
]
FormatOption = Annotated[
    Format, typer.Option("--format", metavar="text|json", help="A report to read, or one JSON object.")
]

EPILOG = """Examples:

\b
  devfix repair . --run "python train.py --steps 2"
  devfix repair ~/project --run "pytest -x tests/test_model.py" --gpus 2
  devfix repair . --dry-run --format json

Exit codes: 0 nothing to repair, or all repaired; 1 a failure remains; 2 wrong usage; 3 a fault of devfix itself."""


def repair(
    path: Annotated[
        str,
        typer.Argument(
            metavar="PATH", help="A git repository, or a folder of one [default: the one at hand]", show_default=False
        ),
    ] = ".",
    run: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help="How to run the program [default: what [tool.devfix] run says in pyproject.toml, else the entry "
            "points that are found]",
        ),
    ] = None,
    world: WorldOption = WorldChoice.AUTO,
    gpus: Gpus = None,
    python: Python = None,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Files never to edit; may be given more than once.")
    ] = None,
    timeout: Timeout = None,
    max_fixes: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Stop after so many fixes [default: 10]")
    ] = None,
    branch: Annotated[
        str | None, typer.Option(metavar="NAME", help="The branch to make [default: devfix/ and what was fixed]")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the diff and make no branch.")] = False,
    no_test: Annotated[
        bool,
        typer.Option("--no-test", help="Write no regression tests (else each fix gets one, where pytest has tests)."),
    ] = False,
    others: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=0,
            help="Run the repository's other commands that reach a fix, before it and with it, for so long in all "
            "[default: 120; 0 runs none]",
        ),
    ] = None,
    try_pins: Annotated[
        bool, typer.Option("--try-pins", help="Where a dependency is at fault, look for a release that runs clean.")
    ] = False,
    partial: Annotated[
        bool,
        typer.Option("--partial", help="Keep the fixes that were proven, also where a failure behind them has none."),
    ] = False,
    include_handled: Annotated[
        bool, typer.Option("--include-handled", help="Repair device failures that the program catches, too.")
    ] = False,
    memory: Memory = None,
    processes: Processes = None,
    file_size: FileSize = None,
    output_limit: OutputLimit = None,
    sandbox: InSandbox = None,
    output: ReportFormatOption = ReportFormat.text,
    folder: FolderOption = None,
    local: Local = None,
) -> int:
    """Find, prove and fix the device failures of a program, and leave the fixes as a branch.

    The program runs in worktrees of the current commit; your files, index and branch stay as they are.
    """
    if run is not None and not run.strip():
        raise UserError('--run is empty; give a command: --run "python train.py"')
    check_timeout(timeout)
    check_folder(folder)
    from devfix import pipeline
    from devfix.cli.listing import lines_of
    from devfix.cli.screen import progress
    from devfix.pipeline.resource_options import ResourceOptions
    from devfix.report.record import record

    options = pipeline.RepairOptions(
        run=run,
        world=world,
        gpus=gpus,
        python=python,
        exclude=exclude or (),
        timeout=timeout,
        max_fixes=max_fixes,
        branch=branch,
        dry_run=dry_run,
        rules=local or (),
        try_pins=try_pins,
        test=not no_test,
        others=others,
        partial=partial,
        include_handled=include_handled,
        resources=ResourceOptions(memory, processes, file_size, output_limit, sandbox),
    )
    with progress() as show:
        report = pipeline.repair(path, options, show)
    data = record(report, lines_of(report))
    if folder is not None:
        write_artifact(folder, data, Path(report.root))
    sys.stdout.write(shown(data, output))
    return _exit_code(report)


def _exit_code(report: Report) -> int:
    if report.last_run and report.last_run.outcome is Outcome.NOT_STARTED:
        return 2
    return 0 if report.outcome in ("repaired", "clean") else 1


def check_timeout(timeout: float | None) -> None:
    """Raise UserError where a time limit is none."""
    if timeout is not None and not 0 < timeout < float("inf"):
        raise UserError(f"--timeout {timeout:g}: give a number of seconds above 0")
