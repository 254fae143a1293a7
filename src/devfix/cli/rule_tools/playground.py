"""`devfix playground`."""

from __future__ import annotations

import threading
from typing import Annotated

import typer

from devfix.cli.options.local import CasePython, Local, case_python


def playground(
    target: Annotated[
        str,
        typer.Argument(
            metavar="[PATH | PACK/NAME]", help="A rule to begin with, by its file, page or id.", show_default=False
        ),
    ] = "",
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65535, help="Port of the page [default: a free one]")
    ] = 0,
    browser: Annotated[bool, typer.Option("--open", help="Open the page in the default browser.")] = False,
    python: CasePython = None,
    local: Local = None,
) -> int:
    """Serve a local page with a program, a rule, and what the rule makes of the program's failure.

    Both can be edited; the result follows. The page runs them as you, so its address has a token and is reachable from
    this machine alone. Nothing is written to your files. Ctrl-C ends it.
    """
    import webbrowser

    from devfix.config import Config
    from devfix.registry.selection import rules_for
    from devfix.rule_testing.checking.runner import check_torch
    from devfix.rule_testing.pages.selection import select_targets
    from devfix.rule_testing.playground.server import playground as serve
    from devfix.rule_testing.playground.start import example, start_of

    start = start_of(select_targets([target], rules_for(Config(), local or ())).rules[0]) if target else example()
    interpreter = case_python(python)
    check_torch(interpreter)
    with serve(start, interpreter, port) as server:
        print(f"{server.url}\n\nCtrl-C ends it.", flush=True)
        if browser:
            webbrowser.open(server.url)
        threading.Event().wait()
    return 0
