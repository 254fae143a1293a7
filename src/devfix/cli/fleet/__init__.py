"""`devfix fleet`: many repositories, on this machine or on a Ray cluster."""

from __future__ import annotations

import typer

from devfix.cli.fleet import run

app = typer.Typer(
    name="fleet",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Repair or search many repositories, on this machine or on a Ray cluster.",
)

app.command("run", epilog=run.EPILOG)(run.run)
