"""`devfix show`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from devfix.cli.formats import ReportFormat, ReportFormatOption, shown


def show(
    report: Annotated[
        Path, typer.Argument(metavar="REPORT", help="A report in JSON, or the folder of `devfix repair --output`.")
    ],
    output: ReportFormatOption = ReportFormat.text,
) -> int:
    """Print a report again, in any format. The report may come from anywhere: it is checked, and nothing is run."""
    from devfix.publish.artifact import open_artifact

    sys.stdout.write(shown(open_artifact(report).data, output))
    return 0
