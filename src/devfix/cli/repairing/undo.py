"""`devfix undo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def undo(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="PATH", help="Git repository, or a folder in one [default: current folder]", show_default=False
        ),
    ] = Path("."),
) -> int:
    """Take back the fixes that were last applied to the working tree.

    The files get the contents that they had before `devfix repair --apply`. If one of them has changed since, nothing
    is done. Repeat it to take back what was applied before.
    """
    from devfix.report.plain import one_line
    from devfix.workspace import Repository
    from devfix.workspace.applied.apply import undo_last

    record = undo_last(Repository.open(path))
    names = ", ".join(file.path for file in record.files)
    print(f"Restored {one_line(names)}: without the fixes of `{one_line(record.command)}`, applied {record.time}")
    return 0
