"""The options of commands for rules: local rules, and the interpreter of their cases."""

from __future__ import annotations

import sys
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

CasePython = Annotated[
    str | None,
    typer.Option(
        "--python",
        metavar="INTERPRETER",
        help="Interpreter of the program or the cases, with torch installed: a path, an environment or a name on the"
        " PATH [default: that of devfix]",
        show_default=False,
    ),
]


def case_python(asked: str | None) -> Path:
    """Return the absolute path of the interpreter of cases. Raises UserError if it does not exist."""
    from devfix.discovery.interpreter import interpreter

    return interpreter(Path(), asked) if asked is not None else Path(sys.executable)
