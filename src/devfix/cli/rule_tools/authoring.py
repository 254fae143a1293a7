"""`devfix new-rule` and `devfix lint-rules`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def new_rule(
    rule: Annotated[
        str, typer.Argument(metavar="PACK/NAME", help="The id of the new rule; the name says what is wrong.")
    ],
    folder: Annotated[
        Path | None,
        typer.Option(
            "--in",
            metavar="FOLDER",
            help="Folder of the packs [default: rules; with --pack, the current folder]",
            show_default=False,
        ),
    ] = None,
    pack: Annotated[
        bool,
        typer.Option("--pack", help="Create a pack that can be installed: a folder PACK-rules with a project."),
    ] = False,
    command: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="COMMAND",
            help='The first case: a program that fails, "python train.py", with the modules beside it that it imports.',
            show_default=False,
        ),
    ] = "",
) -> int:
    """Create the module and the page of a new rule.

    The page has one failing case to start from.
    """
    from devfix.rule_testing.authoring.scaffold import check_name, start_pack, start_rule

    check_name(rule)
    case = _first_case(command) if command else ""
    module = start_pack(rule, folder or Path(), case) if pack else start_rule(rule, folder or Path("rules"), case)
    print(f"{module}\n{module.with_suffix('.md')}\n\nFill them in, then: devfix test {module.with_suffix('.md')}")
    return 0


def _first_case(command: str) -> str:
    from devfix.rule_testing.authoring.first_case import first_case
    from devfix.rule_testing.checking.runner import Bench, check_torch

    python = Path(sys.executable)
    check_torch(python)
    with Bench(python) as bench:
        return first_case(command, bench)


def lint_rules(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[PATH]...", help="Folders, modules or pages of rules [default: rules]", show_default=False
        ),
    ] = None,
) -> int:
    """Check rules without running their cases.

    Reported are imports of torch, use of files, processes and the network, pages without a rule, rules without a page,
    two rules of one id, and rules that lie too deep. Exit code 1 if there is any.
    """
    from devfix.report.plain import one_line
    from devfix.rule_testing.authoring.lint import lint

    found = lint(paths or [Path("rules")])
    for finding in found:
        print(one_line(str(finding), 1000))
    print(f"{len(found)} found" if found else "nothing found")
    return 1 if found else 0
