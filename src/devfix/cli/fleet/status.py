"""`devfix fleet status`."""

from __future__ import annotations

import sys
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer

from devfix.cli.fleet.extra import ResultsArgument, fleet_extra

if TYPE_CHECKING:
    from pathlib import Path

    from devfix.report.fleet_types import FleetRecord


class StatusFormat(str, Enum):
    """Format in which the state of a fleet is printed."""

    text = "text"
    json = "json"


EPILOG = """Examples:

\b
  devfix fleet status fleet-results
  devfix fleet status fleet-results --format json | jq .outcomes

Exit codes: 0 success; 2 not a folder of results; 3 internal error."""


def status(
    results: ResultsArgument,
    output: Annotated[StatusFormat, typer.Option("--format", help="Output format: text, or json (one object).")] = (
        StatusFormat.text
    ),
) -> int:
    """Show how the jobs of a fleet ended, what they found, and what is still to be run.

    A run may be under way. Nothing is changed.
    """
    data = summary_of(results)
    if output is StatusFormat.json:
        from devfix.report.render.machine_readable.json import dump

        sys.stdout.write(dump(data))
        return 0
    from rich.console import Console

    from devfix.cli.output.screen import size_and_color
    from devfix.report.render.terminal.fleet import status_tables

    width, color = size_and_color()
    console = Console(width=width, no_color=not color, force_terminal=color, highlight=False)
    for table in status_tables(data, sys.stdout.isatty()):
        console.print(table)
    return 0


def summary_of(results: Path) -> FleetRecord:
    """Return the state of the fleet whose results lie in this folder."""
    with fleet_extra():
        from devfix.fleet.results import ResultStore
        from devfix.fleet.results.queries import FleetQueries
    return FleetQueries(ResultStore.open(results)).summary()
