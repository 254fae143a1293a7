"""`devfix env`."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from devfix.cli.options.installing import TorchOption, install, local_folder
from devfix.cli.repairing.repair import Format, FormatOption
from devfix.report.plain import one_line

if TYPE_CHECKING:
    from devfix.environments import Environment

EPILOG = """Examples:

\b
  devfix env ~/project
  $(devfix env . | head -n 1) -m pytest
  devfix env . --with pytest --torch auto --format json

Exit codes: 0 everything declared is installed; 1 packages are left out; 2 usage error, or nothing can be installed."""


def env(
    path: Annotated[
        str,
        typer.Argument(
            metavar="PATH",
            help="Git repository, a folder in one, or the address of a repository, which is cloned into the current "
            "folder [default: current folder]",
            show_default=False,
        ),
    ] = ".",
    packages: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="PACKAGE", help="Install that besides, such as torch or pytest; repeatable."),
    ] = None,
    torch: TorchOption = None,
    no_build: Annotated[
        bool,
        typer.Option(
            "--no-build",
            help="Install wheels alone and build nothing, so that no code of the repository or of a package is run; "
            "what has no wheel is left out.",
        ),
    ] = False,
    refresh: Annotated[
        bool,
        typer.Option(
            "--refresh",
            help="Ask the package indexes again, also where the same was resolved within the last day.",
        ),
    ] = False,
    clear: Annotated[
        bool, typer.Option("--clear", help="Remove every environment that devfix has built, and end.")
    ] = False,
    output: FormatOption = Format.text,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose", help="List the installed packages; where there is no solution, print all of uv's text."
        ),
    ] = False,
) -> int:
    """Build the environment of a repository from what it declares, and print its interpreter.

    The environment is built by uv in the user's cache folder, and reused while the resolution is the same, which stands
    for a day. Declared is what the first of these says: pyproject.toml with its lock, Poetry's tables with theirs,
    setup.cfg or setup.py, requirements*.txt, environment.yml. `devfix repair --install` and `devfix find --install` run
    programs in it.
    """
    from devfix.cli.output.screen import progress
    from devfix.environments import clear_environments
    from devfix.environments.resolution import ResolutionError

    if clear:
        count = clear_environments()
        sys.stdout.write(f"{count} environment{'s' if count != 1 else ''} removed\n")
        return 0
    try:
        with progress() as show:
            environment = install(
                local_folder(path, show), tuple(packages or ()), torch, show, builds=not no_build, refresh=refresh
            )
    except ResolutionError as error:
        if verbose:
            sys.stderr.write(f"{error.details}\n")
        raise
    sys.stdout.write(_json(environment) if output is Format.json else _text(environment, verbose))
    return 1 if environment.left_out else 0


def _json(environment: Environment) -> str:
    return json.dumps({**asdict(environment), "python": str(environment.python)}, indent=2) + "\n"


def _age(seconds: int) -> str:
    """Return when it was resolved, if that is long ago enough to be of interest."""
    hours, minutes = divmod(seconds // 60, 60)
    return f", resolved {f'{hours} h' if hours else f'{minutes} min'} ago" if seconds >= 60 else ""


def _text(environment: Environment, verbose: bool) -> str:
    count = len(environment.packages)
    torch = next((line.replace("==", " ") for line in environment.packages if line.startswith("torch==")), "no torch")
    files = f" from {', '.join(environment.files)}" if environment.files else ""
    how = f"reused{_age(environment.resolution_age)}" if environment.reused else f"built in {environment.seconds:.0f} s"
    lines = [
        str(environment.python),
        f"Python {environment.version}, {torch}, {count} package{'s' if count != 1 else ''}{files}; {how}",
        *(one_line(line, 2000) for line in (*environment.left_out, *environment.notes)),
        *(("without --no-build more would be installed",) if environment.needs_build else ()),
        *(f"  {line}" for line in environment.packages if verbose),
    ]
    return "".join(f"{line}\n" for line in lines)
