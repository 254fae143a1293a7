"""The options that limit the resources of a program."""

from __future__ import annotations

from typing import Annotated

import typer

Memory = Annotated[
    float | None,
    typer.Option(metavar="GB", min=0.001, help="Memory limit of the program [default: 90% of the available memory]"),
]
Processes = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Maximum number of processes at once [default: 1000]")
]
FileSize = Annotated[
    float | None,
    typer.Option(
        metavar="GB", min=0.001, help="Maximum size of any file the program writes [default: half of the free disk]"
    ),
]
OutputLimit = Annotated[
    float | None,
    typer.Option(metavar="MB", min=0.001, help="Maximum stdout and stderr kept, per stream [default: 8]"),
]
InSandbox = Annotated[
    bool | None,
    typer.Option(
        "--sandbox/--no-sandbox",
        help="Run the program under bubblewrap: no network, and only its worktree and a temporary folder writable.",
        show_default=False,
    ),
]
