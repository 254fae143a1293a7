"""The extra that fleets take, and the folder of results as an argument."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from devfix.errors import UserError

ResultsArgument = Annotated[
    Path, typer.Argument(metavar="RESULTS", help="The folder of results that `devfix fleet run` writes.")
]
_PACKAGES = {"duckdb", "pyarrow", "ray"}


@contextmanager
def fleet_extra() -> Iterator[None]:
    """Turn a missing package of the extra into a UserError that says how to install it."""
    try:
        yield
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        if name not in _PACKAGES:
            raise
        from devfix.cli.extras import extra_requirements

        raise UserError(f"a fleet needs {name}: pip install {extra_requirements('fleet')}") from error
