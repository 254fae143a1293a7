"""`devfix new-rule` and `devfix test`."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from devfix.cli.local import Local


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


def test(
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH | PACK/NAME | PACK]...",
            help="The rules to test [default: all installed rules]",
            show_default=False,
        ),
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Rewrite the blocks `failure` and `after` with the actual results.")
    ] = False,
    python: Annotated[
        Path | None, typer.Option("--python", help="Interpreter that runs the cases; it needs torch.")
    ] = None,
    local: Local = None,
) -> int:
    """Run the cases of rules' pages.

    Checked are the failure, the first change, a run with every change, and programs that a rule must not change.
    Exit code 1 if a case fails.
    """
    from devfix.config import Config
    from devfix.errors import UserError
    from devfix.registry.selection import rules_for
    from devfix.report.render.plain import plain
    from devfix.rule_testing.page_check import judge, update_page
    from devfix.rule_testing.runner import Bench, check_torch
    from devfix.rule_testing.selection import chosen
    from devfix.rule_testing.writing import judged, summed

    found = chosen(targets or (), rules_for(Config(), local or ()))
    rules = found.rules
    if not rules and not found.troubles:
        raise UserError("no rule to test: give a folder of rules, or install a pack")
    interpreter = python or Path(sys.executable)
    check_torch(interpreter)
    began = time.monotonic()
    with Bench(interpreter) as bench:
        for rule in rules if update else ():
            if update_page(rule, bench):
                print(f"updated  {os.path.relpath(rule.page)}")
        judgements = []
        for judgement in judge(rules, bench):
            print(plain(judged(judgement)), flush=True)
            judgements.append(judgement)
    for trouble in found.troubles:
        print(plain(f"FAIL  {trouble}"))
    print(summed(judgements, time.monotonic() - began, len(found.troubles)))
    return 0 if all(judgement.passed for judgement in judgements) and not found.troubles else 1
