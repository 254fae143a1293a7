"""`devfix fleet`: repair or search many repositories, and see, report and publish the results."""

from __future__ import annotations

import typer

from devfix.cli.fleet import publish, report, run, status
from devfix.errors import UserError

app = typer.Typer(name="fleet", rich_markup_mode=None, context_settings={"max_content_width": 100})


@app.callback(invoke_without_command=True)
def _fleet(context: typer.Context) -> None:
    """Repair or search many repositories, on this machine or on a Ray cluster."""
    if context.invoked_subcommand is None:
        raise UserError("missing command, e.g. `devfix fleet run fleet.toml` (see devfix fleet --help)")


app.command("run", epilog=run.EPILOG)(run.run)
app.command("status", epilog=status.EPILOG)(status.status)
app.command("report", epilog=report.EPILOG)(report.report)
app.command("publish", epilog=publish.EPILOG)(publish.publish)
