"""`devfix trace`."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from devfix.cli.options.local import CasePython, Local, case_python

if TYPE_CHECKING:
    from devfix.rule_testing.pages.case import Case


class TraceFormat(str, Enum):
    """Format in which a context is printed."""

    text = "text"
    json = "json"
    tree = "tree"


def trace(
    target: Annotated[
        str,
        typer.Argument(
            metavar="PROGRAM | PATH | PACK/NAME | CASE",
            help="A program (main.py), a rule's module or page, its id, or the name of a case.",
        ),
    ],
    part: Annotated[
        str, typer.Option("-k", metavar="TEXT", help="Take the cases with this in their name.", show_default=False)
    ] = "",
    output: Annotated[
        TraceFormat,
        typer.Option(
            "--format",
            metavar="text|json|tree",
            help="Output format: text, json (one object), or tree (text, with the LibCST tree at each site).",
        ),
    ] = TraceFormat.text,
    gpus: Annotated[
        int, typer.Option("--gpus", metavar="N", min=1, max=8, help="Number of simulated GPUs of a program.")
    ] = 1,
    python: CasePython = None,
    local: Local = None,
) -> int:
    """Show what a rule is given for a failure: operands, their history and sites, and what is in scope.

    The program, or the case, runs on simulated GPUs. Of a rule with several cases, the first that fails is shown.
    """
    import msgspec

    from devfix.errors import UserError
    from devfix.report.plain import plain
    from devfix.rule_testing.checking.format import format_ending
    from devfix.rule_testing.checking.proposal import sources_of
    from devfix.rule_testing.checking.runner import Bench, check_torch
    from devfix.rule_testing.views.context_text import context_text
    from devfix.rule_testing.views.context_view import view_of

    cases = _cases(target, part, gpus, local)
    interpreter = case_python(python)
    check_torch(interpreter)
    views = []
    with Bench(interpreter) as bench:
        for case in cases if part else cases[:1]:
            failure, run = bench.failing(case)
            if failure is None:
                *_, ending = format_ending(run).splitlines()
                raise UserError(f"{case.name}: does not fail on a device, so that there is nothing to show: {ending}")
            views.append(view_of(case.name, failure, sources_of(case)))
    if output is TraceFormat.json:
        record = {"schema": "devfix-context/1", "contexts": views}
        print(msgspec.json.format(msgspec.json.encode(record), indent=2).decode())
        return 0
    for view in views:
        print(plain(context_text(view, output is TraceFormat.tree)) + "\n")
    if len(cases) > len(views):
        print(f"{len(cases) - len(views)} more cases of this rule fail; -k TEXT selects by the name")
    return 0


def _cases(target: str, part: str, gpus: int, local: list[Path] | None) -> list[Case]:
    """Return the failing cases that a target names. Raises UserError if there is none."""
    from devfix.config import Config
    from devfix.errors import UserError
    from devfix.registry.selection import rules_for
    from devfix.rule_testing.authoring.first_case import program_case
    from devfix.rule_testing.pages.selection import case_filter, cases_of, select_targets

    path = Path(target)
    if path.suffix == ".py" and path.is_file() and not path.with_suffix(".md").is_file():
        return [program_case(path, gpus)]
    catalog = rules_for(Config(), local or ())
    if not path.exists():
        named = [case for rule in catalog.rules for case in cases_of(rule) if case.name == target]
        if named:
            return named[:1]
    rules = select_targets([target], catalog).rules
    select = case_filter(part, (), rules)
    every = [case for rule in rules for case in cases_of(rule) if select is None or select(case)]
    failing = [case for case in every if case.failure is not None]
    if not failing:
        raise UserError(f"{target}: has no case with a `failure`; give a page, or a program that fails")
    return failing
