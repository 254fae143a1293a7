"""`--install` of `devfix repair` and `devfix find`: from an address, or a folder, to one with an environment."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from devfix.errors import UserError
from devfix.report.plain import one_line

if TYPE_CHECKING:
    from devfix.environments import Environment

InstallOption = Annotated[
    bool,
    typer.Option(
        "--install",
        help="Build the environment of the program from what the repository declares, with uv, outside of the "
        "repository; `devfix env` shows it.",
    ),
]
TorchOption = Annotated[
    str | None,
    typer.Option(
        "--torch",
        metavar="BUILD",
        help="Build of torch in that environment: cpu, auto (for the GPU of this machine), one that uv knows, such as "
        "cu128, or none for that of the ordinary package index [default: cpu]",
    ),
]


def local_folder(path: str, step: Callable[[str], None]) -> str:
    """Return the folder for an address: a new clone in the current folder. A path is returned as it is."""
    if "://" not in path and "@" not in path:
        return path
    from devfix.workspace import clone, is_address

    if not is_address(path):
        return path
    step("cloning the repository")
    folder = clone(path, Path.cwd())
    sys.stderr.write(f"devfix: cloned into {folder}\n")
    return str(folder)


def install(
    path: str, packages: tuple[str, ...], torch: str | None, step: Callable[[str], None], **options: bool
) -> Environment:
    """Return the environment of the repository at a path, with these packages besides. Raises UserError.

    The options are those of `EnvironmentRequest`: `builds` and `refresh`.
    """
    from devfix.environments import EnvironmentRequest, build_environment
    from devfix.workspace import Repository

    repository = Repository.open(Path(path))
    request = EnvironmentRequest(packages, torch or "", **options)
    return build_environment(repository.root, repository.subfolder, request, step)


def python_of(
    path: str,
    python: str | None,
    wanted: bool,
    packages: tuple[str, ...],
    torch: str | None,
    step: Callable[[str], None],
) -> str | None:
    """Return the interpreter of the program: that of its new environment if one is wanted, else the one given.

    What the environment lacks is written to standard error, a line for each package.
    """
    if not wanted:
        if torch is not None:
            raise UserError("--torch is for the environment that --install builds; add --install")
        return python
    if python is not None:
        raise UserError("--install builds an environment, and --python names one; give one of them")
    environment = install(path, packages, torch, step)
    for line in (*environment.left_out, *environment.notes):
        sys.stderr.write(f"devfix: {one_line(line, 2000)}\n")
    return str(environment.python)
