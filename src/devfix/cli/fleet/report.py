"""`devfix fleet report`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from devfix.cli.fleet.extra import ResultsArgument, fleet_extra
from devfix.errors import UserError

EPILOG = """Examples:

\b
  devfix fleet report fleet-results
  devfix fleet report fleet-results --output fleet.html

Exit codes: 0 success; 2 not a folder of results; 3 internal error."""


def report(
    results: ResultsArgument,
    output: Annotated[
        Path | None,
        typer.Option("--output", metavar="FILE.html", help="The file to write [default: RESULTS/report.html]"),
    ] = None,
) -> int:
    """Write the report of a fleet as one HTML file: findings by rule, repositories with their fixes, failures, time.

    A run may be under way.
    """
    with fleet_extra():
        from devfix.fleet.results import ResultStore
        from devfix.fleet.results.fixes import fixes_to_show
        from devfix.fleet.results.queries import FleetQueries
    from devfix.report.render.html.fleet import fleet_page

    store = ResultStore.open(results)
    data = FleetQueries(store).summary()
    file = output or results / "report.html"
    try:
        file.write_text(fleet_page(data, fixes_to_show(store, data)), encoding="utf-8")
    except OSError as error:
        raise UserError(f"--output {file}: {os.strerror(error.errno or 0)}") from error
    print(file)
    return 0
