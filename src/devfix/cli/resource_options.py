"""The options that bound what a program may take and touch."""

from __future__ import annotations

from typing import Annotated

import typer

Memory = Annotated[
    float | None,
    typer.Option(
        metavar="GB", min=0.001, help="End a program that takes more memory [default: nine tenths of what is there]"
    ),
]
Processes = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="End a program with more processes at once [default: 1000]")
]
FileSize = Annotated[
    float | None,
    typer.Option(metavar="GB", min=0.001, help="The largest file that it may write [default: half of the free disk]"),
]
OutputLimit = Annotated[
    float | None,
    typer.Option(metavar="MB", min=0.001, help="What is kept of each of its two streams [default: 8]"),
]
InSandbox = Annotated[
    bool | None,
    typer.Option(
        "--sandbox/--no-sandbox",
        help="Run the program under bubblewrap: no network, and only its worktree and a temporary folder are writable.",
        show_default=False,
    ),
]
