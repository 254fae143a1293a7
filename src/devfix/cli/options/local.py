"""The option that names local rules."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Local = Annotated[
    list[Path] | None,
    typer.Option(
        "--rules",
        metavar="PATH",
        help="Folder, module or page of local rules; repeatable. Rules are code that runs inside devfix: use only "
        "rules that you trust.",
    ),
]
