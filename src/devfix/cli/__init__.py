"""The command line: parses arguments, calls the engine, prints and exits."""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import signal
import sys
import threading
from collections.abc import Sequence
from types import FrameType
from typing import Annotated, NoReturn

import typer

from devfix.cli import environment, fleet, run, show, trace
from devfix.cli.errors import complaint, no_current_folder, no_space, usage_error, write_log
from devfix.cli.finding import find
from devfix.cli.publishing import publish, respond
from devfix.cli.repairing import repair, undo
from devfix.cli.rule_tools import authoring, playground, rule_cases, rules
from devfix.errors import UserError

EXIT_USAGE, EXIT_INTERNAL = 2, 3
_COLLECTED = 50_000  # new objects; with Python's 700, imports and syntax trees take a tenth more processor time

app = typer.Typer(
    name="devfix",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit: 0 success, 1 a failure remains, 2 usage error, 3 internal error."""
    gc.set_threshold(_COLLECTED)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # printing a report must not fail on an ASCII terminal
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _end)
    try:
        code: object = status(sys.argv[1:] if arguments is None else arguments)
    except SystemExit as ending:
        code = ending.code
    if isinstance(code, int) and threading.active_count() > 1:
        _exit_beside_rules(code)
    sys.exit(code)  # type: ignore[arg-type]


def status(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code."""
    try:
        return int(app(args=list(arguments), prog_name="devfix", standalone_mode=False) or 0)
    except UserError as error:
        complaint(str(error), arguments)
        return EXIT_USAGE
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except Exception as error:
        if (message := usage_error(error) or no_space(error) or no_current_folder(error)) is not None:
            complaint(message, arguments)
            return EXIT_USAGE
        log = write_log(error, arguments)
        report = f"; to report it, attach {log}" if log else ""
        complaint(f"internal error: {type(error).__name__} in devfix, not in your program{report}", arguments, log)
        return EXIT_INTERNAL


def _exit_beside_rules(code: int) -> None:
    """Exit where rules still run, without Python's finalization: it aborts if one of their threads is printing then."""
    from devfix.registry.timeout import is_running

    if not is_running():
        return
    atexit._run_exitfuncs()
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
    os._exit(code)


def _end(number: int, frame: FrameType | None) -> NoReturn:
    """Exit by an exception, so that worktrees and processes are cleaned up."""
    raise SystemExit(128 + number)


def _print_version(requested: bool) -> None:
    if requested:
        from devfix import __version__

        print(f"devfix {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _devfix(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Find, verify and fix PyTorch device mismatch errors. No GPU is needed."""
    if context.invoked_subcommand is None:
        raise UserError("missing command, e.g. `devfix repair .` (see devfix --help)")


app.command("repair", epilog=repair.EPILOG)(repair.repair)
app.command("env", epilog=environment.EPILOG)(environment.env)
app.command("undo")(undo.undo)
app.command("find", epilog=find.EPILOG)(find.find)
# Everything after the first word of the command belongs to the command, with or without "--" before it.
app.command("run", epilog=run.EPILOG, context_settings={"allow_interspersed_args": False})(run.run)
app.command("rules")(rules.rules)
app.command("explain")(rules.explain)
app.command("new-rule")(authoring.new_rule)
app.command("lint-rules")(authoring.lint_rules)
app.command("test")(rule_cases.test)
app.command("playground")(playground.playground)
app.command("trace")(trace.trace)
app.command("show")(show.show)
app.command("publish", epilog=publish.EPILOG)(publish.publish)
app.command("respond", epilog=respond.EPILOG)(respond.respond)
app.add_typer(fleet.app, name="fleet")
