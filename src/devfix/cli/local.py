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
        help="A folder, module or page of local rules; may be given more than once. Rules are code that runs in "
        "devfix itself: name only what you trust.",
    ),
]
