"""`devfix new-rule`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def new_rule(
    rule: Annotated[
        str, typer.Argument(metavar="PACK/NAME", help="The id of the new rule; the name says what is wrong.")
    ],
    folder: Annotated[Path, typer.Option("--in", metavar="FOLDER", help="Folder of the packs.")] = Path("rules"),
) -> int:
    """Create the module and the page of a new rule.

    The page has one failing case to start from.
    """
    from devfix.rule_testing.scaffold import start_rule

    module = start_rule(rule, folder)
    print(f"{module}\n{module.with_suffix('.md')}\n\nFill them in, then: devfix test {module.with_suffix('.md')}")
    return 0
