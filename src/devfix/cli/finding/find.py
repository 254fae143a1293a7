"""`devfix find`."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from devfix.cli.finding.search_progress import progress
from devfix.cli.options.formats import ReportFormat
from devfix.cli.options.installing import InstallOption, TorchOption, local_folder, python_of
from devfix.cli.options.local import Local
from devfix.cli.options.until import seconds
from devfix.cli.output.artifact import check_folder
from devfix.cli.repairing.repair import Python
from devfix.cli.repairing.taking import Branches
from devfix.errors import UserError
from devfix.model import SilentKind, WorldChoice

if TYPE_CHECKING:
    from devfix.report.find_types import FindRecord

EPILOG = """Examples:

\b
  devfix find
  devfix find ~/project --budget 10m --select "tests/test_model.py"
  devfix find --world mps
  devfix find . --format json > known.json; devfix find . --baseline known.json

Exit codes: 0 nothing new; 1 findings; 2 wrong usage, or no test ran on a GPU; 3 a fault of devfix itself;
130 interrupted before anything was found."""
INTERRUPTED = 130  # as shells have it of a program that Ctrl-C ended


class FindFormat(str, Enum):
    """The formats in which the report of a search is printed."""

    text = "text"
    json = "json"
    sarif = "sarif"
    codequality = "codequality"
    github = "github"
    html = "html"


class FindWorld(str, Enum):
    """The worlds in which tests are lifted."""

    simulated = "simulated"
    mps = "mps"
    xpu = "xpu"


def find(
    path: Annotated[
        str,
        typer.Argument(
            metavar="PATH",
            help="A git repository, a folder of one, or the address of one, which is cloned into the current folder "
            "[default: the one at hand]",
            show_default=False,
        ),
    ] = ".",
    select: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="Only these tests: files, folders or names; may be given more than once."),
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Not these tests; may be given more than once.")
    ] = None,
    timeout: Annotated[str, typer.Option(metavar="TIME", help="End a test that runs for longer.")] = "2m",
    budget: Annotated[str, typer.Option(metavar="TIME", help="The time for everything: 90s, 10m, 1h.")] = "1h",
    processes: Annotated[
        int, typer.Option("-n", metavar="N", min=1, help="Run the tests in so many processes, with pytest-xdist.")
    ] = 1,
    world: Annotated[
        FindWorld,
        typer.Option(
            metavar="WORLD",
            help="The GPUs on which inputs lie: simulated (CUDA's), mps (a Mac's), xpu (Intel's).",
        ),
    ] = FindWorld.simulated,
    gpus: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=2,
            help="1: leave out the runs on the second of two GPUs, and for caches [default: 2; 1 with --world mps]",
            show_default=False,
        ),
    ] = None,
    python: Python = None,
    install: InstallOption = False,
    torch: TorchOption = None,
    baseline: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The JSON of an earlier search: only what it lacks is new, and counts."),
    ] = None,
    output: Annotated[
        FindFormat,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="text to read, json (one object), sarif (2.1.0), codequality (GitLab's report), github (annotations), "
            "html (one file)",
        ),
    ] = FindFormat.text,
    repair: Annotated[
        bool,
        typer.Option("--repair", help="Repair each confirmed finding, with a regression test."),
    ] = False,
    branches: Annotated[
        Branches,
        typer.Option(metavar="HOW", help="With --repair: one branch for all fixes, or each its own: one, each."),
    ] = Branches.one,
    silent: Annotated[
        list[SilentKind] | None,
        typer.Option(
            metavar="KIND",
            help="Of what fails nowhere, look for this alone: result-on-host, not-moved, stale-cache; "
            "may be given more than once.",
        ),
    ] = None,
    no_silent: Annotated[bool, typer.Option("--no-silent", help="Leave out what fails nowhere.")] = False,
    include_handled: Annotated[
        bool,
        typer.Option(
            "--include-handled/--no-handled", help="Look for device failures, too, that the code or the test catches."
        ),
    ] = True,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--output",
            metavar="FOLDER",
            help="Write find.json, find.sarif and summary.md to a new folder, and for each repair a report to publish.",
        ),
    ] = None,
    local: Local = None,
) -> int:
    """Find device failures that nobody has hit yet: run the tests as if their author had put the inputs on a GPU.

    The tests run in a worktree of the current commit: on the CPU, on a simulated GPU, and on the second of two, where
    such a machine can have two. What fails on a GPU alone, in the code under test, is a finding. Nothing is edited.
    """
    check_folder(folder)
    choice = WorldChoice(world.value)
    if gpus is not None and gpus > choice.device.most:
        raise UserError(f"--world {world.value}: such a machine has one GPU; leave out --gpus {gpus}")
    limit, whole = seconds(timeout, "--timeout"), seconds(budget, "--budget")
    from devfix.cli.finding.find_output import write_found
    from devfix.cli.finding.find_repair import RepairPlan, Repairs, repair_causes
    from devfix.cli.output.listing import lines_here
    from devfix.environments.request import NEEDED_BY_TESTS
    from devfix.find import FindOptions
    from devfix.find import find as search
    from devfix.find.baseline import read_baseline
    from devfix.find.report import find_record

    with progress() as (_, step):
        path = local_folder(path, step)
        python = python_of(path, python, install, NEEDED_BY_TESTS, torch, step)
    began = time.monotonic()
    asked = FindOptions(
        python=python,
        select=tuple(select or ()),
        exclude=tuple(exclude or ()),
        timeout=limit,
        budget=whole,
        processes=processes,
        known=read_baseline(baseline),
        rules=tuple(map(Path, local or ())),
        silent=frozenset() if no_silent else frozenset(silent or SilentKind),
        device=choice.device,
        gpus=gpus or 2,
        include_handled=include_handled,
    )
    with progress() as (show, step):
        report = search(path, asked, show, step)
        plan = RepairPlan(branches, python, asked.rules, began + whole, choice, bool(asked.silent))
        repairs = repair_causes(report, plan, step) if repair else Repairs()
    report = replace(report, notes=(*report.notes, *repairs.notes))
    data = find_record(report, lines_here(Path(path).resolve()), repairs.fixes)
    if folder is not None:
        write_found(folder, data, repairs.reports, Path(report.root))
    sys.stdout.write(shown_search(data, output))
    if report.causes:
        return 1
    return INTERRUPTED if report.interrupted else 2 if data.is_unsearched else 0


def shown_search(data: FindRecord, output: FindFormat | ReportFormat) -> str:
    """Return the record of a search in a format; text has the width and the colours of the terminal."""
    from devfix.cli.output.screen import size_and_color
    from devfix.report.render.html.find import find_page
    from devfix.report.render.machine_readable.code_quality import find_code_quality
    from devfix.report.render.machine_readable.find_sarif import find_sarif
    from devfix.report.render.machine_readable.json import dump
    from devfix.report.render.terminal.find import find_commands, find_outputs, find_summary, find_text

    if output.value == ReportFormat.text.value:
        width, color = size_and_color()
        return find_text(data, color, width)
    formats = {
        ReportFormat.json.value: dump,
        ReportFormat.github.value: find_commands,
        ReportFormat.sarif.value: find_sarif,
        ReportFormat.codequality.value: find_code_quality,
        ReportFormat.summary.value: find_summary,
        ReportFormat.outputs.value: find_outputs,
        ReportFormat.html.value: find_page,
    }
    return formats[output.value](data)
