"""`devfix test`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from devfix.cli.options.local import CasePython, Local, case_python
from devfix.cli.rule_tools.judge_cases import judge_cases, watch_cases

if TYPE_CHECKING:
    from devfix.registry import Catalog, Rule
    from devfix.rule_testing.authoring.updating import BlockUpdate
    from devfix.rule_testing.checking.runner import Bench
    from devfix.rule_testing.pages.case import Case
    from devfix.rule_testing.recording.runs import RecordedRuns

Select = Callable[["Case"], bool]


def test(
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH | PACK/NAME | PACK]...",
            help="The rules to test [default: all installed rules]",
            show_default=False,
        ),
    ] = None,
    part: Annotated[
        str, typer.Option("-k", metavar="TEXT", help="Run only the cases with this in their name.", show_default=False)
    ] = "",
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="CASE", help="Run only the case of this name; repeatable.")
    ] = None,
    preview: Annotated[
        bool, typer.Option("--preview", help="Show what the rules change, as diffs, and run none of the changes.")
    ] = False,
    update: Annotated[
        bool,
        typer.Option(
            "--update",
            help="Write the actual results into the blocks `failure` and `after`. What is not empty is replaced only "
            "if you agree to the diff, on a terminal, or give --overwrite.",
        ),
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="With --update: replace blocks that are not empty, without asking.")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Go on, and test a rule again whenever its module or page is saved.")
    ] = False,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Make every run: neither replay runs of the cache, nor record any.")
    ] = False,
    clear_cache: Annotated[bool, typer.Option("--clear-cache", help="Remove all recorded runs first.")] = False,
    python: CasePython = None,
    local: Local = None,
) -> int:
    """Run the cases of rules' pages.

    Checked are the failure, the first change, a run with every change, and programs that a rule must not change.
    A run is made once, and replayed while its program, the packages and devfix are the same. Exit code 1 if a case
    fails.
    """
    from devfix.config import Config
    from devfix.errors import UserError
    from devfix.registry.selection import rules_for
    from devfix.rule_testing.authoring.watching import Watched
    from devfix.rule_testing.checking.runner import Bench
    from devfix.rule_testing.pages.selection import case_filter, select_targets

    if overwrite and not update:
        raise UserError("--overwrite says how to --update: give both")
    if update and (preview or part or only):
        raise UserError("--update writes whole pages: give it without --preview, -k and --only")
    if watch and (preview or update):
        raise UserError("--watch tests: give it without --preview and --update")
    found = select_targets(targets or (), rules_for(Config(), local or ()))
    if not found.rules and not found.problems:
        raise UserError("no rule to test: give a folder of rules, or install a pack")
    select = case_filter(part, only or (), found.rules)
    interpreter = case_python(python)
    with Bench(interpreter, recorded=_open_recorded(interpreter, no_cache, clear_cache)) as bench:
        if preview:
            return _preview(found, bench, select)
        for rule in found.rules if update else ():
            _update(rule, bench, overwrite)
        watched = Watched(found.rules)
        passed = judge_cases(found, bench, select)
        if watch:
            watch_cases(watched, bench, select)
        return 0 if passed else 1


def _open_recorded(interpreter: Path, no_cache: bool, clear_cache: bool) -> RecordedRuns | None:
    """Return the recorded runs for an interpreter; None if none are to be used. Raises UserError if it has no torch."""
    from devfix.rule_testing.recording.fingerprint import installed_packages
    from devfix.rule_testing.recording.runs import RecordedRuns
    from devfix.rule_testing.recording.store import user_store

    store = user_store()
    if clear_cache:
        store.clear()
    if no_cache:
        installed_packages(interpreter)
        return None
    return RecordedRuns(store, interpreter)


def _preview(found: Catalog, bench: Bench, select: Select | None) -> int:
    """Print what the rules propose; return 1 if a rule is in error."""
    from devfix.report.plain import plain
    from devfix.rule_testing.pages.page import PageError, read_page

    problems = list(found.problems)
    for rule in found.rules:
        try:
            cases = [case for case in read_page(rule.page).cases if select is None or select(case)]
        except PageError as error:
            problems.append(str(error))
            continue
        if cases:
            print(rule.id)
        for case in cases:
            shown = bench.preview(rule, case)
            print(plain(shown.text) + "\n", flush=True)
            problems += shown.proposal.notes if shown.proposal else ()
    for problem in found.problems:
        print(plain(f"FAIL  {problem}"))
    return 1 if problems else 0


def _update(rule: Rule, bench: Bench, overwrite: bool) -> None:
    from devfix.report.plain import plain
    from devfix.rule_testing.authoring.updating import update_page

    page = os.path.relpath(rule.page)
    kept = []

    def accept(update: BlockUpdate) -> bool:
        print(plain(f"{page}: case {update.case!r}\n{update.difference}"))
        if overwrite:
            return True
        if sys.stdin.isatty() and sys.stdout.isatty():
            return typer.confirm("Replace what is on the page?")
        kept.append(update)
        return False

    if update_page(rule, bench, accept):
        print(f"updated  {page}")
    if kept:
        blocks = "a block that is" if len(kept) == 1 else f"{len(kept)} blocks that are"
        print(f"kept  {blocks} not empty in {page}; --update --overwrite replaces what is shown above")
