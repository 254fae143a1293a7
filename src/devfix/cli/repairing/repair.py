"""`devfix repair`."""

from __future__ import annotations

import shlex
import sys
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from devfix.cli.options.formats import (
    ExplainRulesOption,
    ReportFormat,
    ReportFormatOption,
    VerboseOption,
    format_ending,
    format_report,
)
from devfix.cli.options.installing import InstallOption, TorchOption, local_folder, python_of
from devfix.cli.options.local import Local
from devfix.cli.options.resource_options import FileSize, InSandbox, Memory, OutputLimit, Processes
from devfix.cli.options.until import ForOption, RequestOption, StepsOption, UntilLineOption, UntilOption, until_from
from devfix.cli.output.artifact import FolderOption, check_folder, write_artifact
from devfix.cli.repairing.taking import ApplyOption, CandidateOption, TakeOption, answers, asks
from devfix.errors import UserError
from devfix.model import Outcome, Report, Taking, WorldChoice
from devfix.report.plain import one_line


class Format(str, Enum):
    """Format in which a report is printed."""

    text = "text"
    json = "json"


Gpus = Annotated[
    int | None, typer.Option(metavar="N", min=1, max=64, help="Number of GPUs visible to the program [default: 1]")
]
WorldOption = Annotated[
    WorldChoice,
    typer.Option(
        metavar="auto|real|simulated|cpu|mps|xpu",
        help="Devices of the program: auto (real GPUs of CUDA if available, otherwise simulated), real (of "
        "whatever kind), simulated, cpu (no GPU), mps (a Mac's, simulated) or xpu (Intel's, simulated).",
    ),
]
Python = Annotated[
    str | None,
    typer.Option(
        metavar="INTERPRETER",
        help="Interpreter of the program, with torch installed: a path, an environment or a name on the PATH "
        "[default: the .venv or venv of the repository, else the interpreter of devfix]",
    ),
]
Timeout = Annotated[
    float | None, typer.Option(metavar="SECONDS", help="Time limit for each run of the program [default: 600]")
]
FormatOption = Annotated[
    Format, typer.Option("--format", metavar="text|json", help="Output format: text, or json (one object).")
]

EPILOG = """Examples:

\b
  devfix repair . --run "python train.py --steps 2"
  devfix repair ~/project --run "pytest -x tests/test_model.py" --gpus 2
  devfix repair . --apply; devfix undo
  devfix repair . --run "python serve.py" --until http://127.0.0.1:8000/ --request "POST /predict [1, 2]"
  devfix repair --install https://github.com/owner/name
  devfix repair . --dry-run --format json

Exit codes: 0 nothing to repair, or all repaired; 1 a failure remains; 2 usage error; 3 internal error."""


def repair(
    path: Annotated[
        str,
        typer.Argument(
            metavar="PATH",
            help="Git repository, a folder in one, a notebook to run and repair, or the address of a repository, which "
            "is cloned into the current folder [default: current folder]",
            show_default=False,
        ),
    ] = ".",
    run: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help="Command that runs the program [default: `run` of [tool.devfix] in pyproject.toml, else the entry "
            "points that devfix discovers]",
        ),
    ] = None,
    world: WorldOption = WorldChoice.AUTO,
    gpus: Gpus = None,
    python: Python = None,
    install: InstallOption = False,
    torch: TorchOption = None,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Files that must not be edited; repeatable.")
    ] = None,
    timeout: Timeout = None,
    max_fixes: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Maximum number of fixes [default: 10]")
    ] = None,
    branch: Annotated[
        str | None, typer.Option(metavar="NAME", help="Branch to create [default: devfix/RULE-FILE]")
    ] = None,
    take: TakeOption = None,
    apply: ApplyOption = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Same as --take none: change nothing.")] = False,
    candidate: CandidateOption = None,
    no_test: Annotated[
        bool,
        typer.Option(
            "--no-test",
            help="Do not write regression tests (by default, one per fix if the repository has pytest tests).",
        ),
    ] = False,
    others: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=0,
            help="Time limit for running other commands of the repository that reach a fix, before and after it "
            "[default: 120; 0 runs none]",
        ),
    ] = None,
    find_working_version: Annotated[
        bool,
        typer.Option(
            "--find-working-version",
            help="If the fault is in a dependency, search for a release with which the program works.",
        ),
    ] = False,
    partial: Annotated[
        bool,
        typer.Option("--partial", help="Keep verified fixes even if a later failure has none."),
    ] = False,
    include_handled: Annotated[
        bool, typer.Option("--include-handled", help="Also repair device failures that the program catches.")
    ] = False,
    device_map: Annotated[
        bool,
        typer.Option(
            "--map",
            help="Record the devices of all modules and the lines that copy, in two more runs: without the fixes and "
            "with them. Included in --format html.",
        ),
    ] = False,
    duration: ForOption = None,
    until_line: UntilLineOption = None,
    until: UntilOption = None,
    request: RequestOption = None,
    steps_after: StepsOption = None,
    memory: Memory = None,
    processes: Processes = None,
    file_size: FileSize = None,
    output_limit: OutputLimit = None,
    sandbox: InSandbox = None,
    output: ReportFormatOption = ReportFormat.text,
    verbose: VerboseOption = False,
    explain_rules: ExplainRulesOption = False,
    folder: FolderOption = None,
    local: Local = None,
) -> int:
    """Fix the device failures of a program, by default on a new branch.

    Each fix is verified by running the program, and becomes a commit. The program runs in worktrees of the current
    commit; your working tree, index and branch are not changed, unless you have the fixes applied to the working tree.
    On a terminal, devfix asks what to do with verified fixes.
    """
    if run is not None and not run.strip():
        raise UserError('--run is empty; give a command: --run "python train.py"')
    check_timeout(timeout)
    check_folder(folder)
    said = answers(take, apply, dry_run, branch, candidate)
    from devfix import pipeline
    from devfix.cli.output.listing import lines_of
    from devfix.cli.output.screen import progress
    from devfix.cli.repairing.decide import Question
    from devfix.environments.request import NEEDED, NEEDED_BY_NOTEBOOKS
    from devfix.pipeline.opening.options import TIMEOUT
    from devfix.pipeline.opening.resource_options import ResourceOptions
    from devfix.report.record import record

    with progress() as show:
        path, run = _of_notebook(local_folder(path, show), run)
        needed = NEEDED_BY_NOTEBOOKS if run is not None and ".ipynb" in run else NEEDED
        python = python_of(path, python, install, needed, torch, show)
    waits = until_from(duration, until_line, until, request, timeout or TIMEOUT, steps_after)
    is_text = output is ReportFormat.text and folder is None
    options = pipeline.RepairOptions(
        run=run,
        world=world,
        gpus=gpus,
        python=python,
        exclude=exclude or (),
        timeout=timeout,
        max_fixes=max_fixes,
        branch=branch,
        take=said.take or Taking.BRANCH,
        candidates=said.candidates,
        rules=local or (),
        find_working_version=find_working_version,
        test=not no_test,
        others=others,
        partial=partial,
        include_handled=include_handled,
        until=waits,
        device_map=device_map or output is ReportFormat.html,
        resources=ResourceOptions(memory, processes, file_size, output_limit, sandbox),
    )
    with progress() as show:
        question = Question(show, verbose) if asks(said, is_text) else None
        report = pipeline.repair(path, options, show, question.decide if question else None)
    data = record(report, lines_of(report))
    if folder is not None:
        write_artifact(folder, data, Path(report.root))
    if question is not None and question.was_asked:
        sys.stdout.write(format_ending(data))
    else:
        sys.stdout.write(format_report(data, output, verbose, explain_rules))
    if report.not_applied:
        sys.stderr.write(f"devfix: {one_line(report.not_applied, 2000)}\n")
    return _exit_code(report)


def _of_notebook(path: str, run: str | None) -> tuple[str, str | None]:
    """Return the folder and the command for a notebook in place of a folder."""
    if not path.endswith(".ipynb") or Path(path).is_dir():
        return path, run
    if not Path(path).exists():
        raise UserError(f"{path}: no such notebook")
    if run is not None:
        raise UserError(f"{path}: the notebook is what is run, so --run {run!r} has no effect; give its folder instead")
    return str(Path(path).parent), shlex.quote(Path(path).name)


def _exit_code(report: Report) -> int:
    if report.not_applied:
        return 2
    if report.last_run and report.last_run.outcome is Outcome.NOT_STARTED:
        return 2
    return 0 if report.outcome in ("repaired", "clean") else 1


def check_timeout(timeout: float | None) -> None:
    """Raise UserError if a time limit is not a positive number."""
    if timeout is not None and not 0 < timeout < float("inf"):
        raise UserError(f"--timeout {timeout:g}: must be a number of seconds above 0")
