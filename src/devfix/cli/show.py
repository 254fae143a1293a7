"""`devfix show`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from devfix.cli.options.formats import (
    ExplainRulesOption,
    ReportFormat,
    ReportFormatOption,
    VerboseOption,
    format_report,
)


def show(
    report: Annotated[
        Path,
        typer.Argument(metavar="REPORT", help="A report in JSON, or a folder written by `devfix repair --output`."),
    ],
    output: ReportFormatOption = ReportFormat.text,
    verbose: VerboseOption = False,
    explain_rules: ExplainRulesOption = False,
) -> int:
    """Print a saved report in any format. The report is validated, and nothing is run.

    A report of `devfix find --format json` is shown too.
    """
    from devfix.cli.finding.find import shown_search
    from devfix.publish.proposals.artifact import open_artifact, text_of
    from devfix.report.render.machine_readable.json import read_search

    if report.is_file() and (search := read_search(text_of(report))) is not None:
        sys.stdout.write(shown_search(search, output))
        return 0
    sys.stdout.write(format_report(open_artifact(report).data, output, verbose, explain_rules))
    return 0
