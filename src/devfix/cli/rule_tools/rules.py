"""`devfix rules` and `devfix explain`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from devfix.cli.options.local import Local
from devfix.cli.repairing.repair import Format, FormatOption

if TYPE_CHECKING:
    from devfix.registry import Catalog, Rule


def rules(local: Local = None, output: FormatOption = Format.text) -> int:
    """List the rules: id, safety, title and origin.

    Rules that cannot be loaded are reported on standard error.
    """
    from devfix.report.plain import one_line

    catalog = _catalog(local)
    records = [_record(rule) for rule in catalog.rules]
    if output is Format.json:
        print(json.dumps({"schema": "devfix-rules/1", "rules": records, "problems": list(catalog.problems)}, indent=2))
    else:
        _print_table(records)
    for problem in catalog.problems:
        print("devfix: " + one_line(problem, 2000), file=sys.stderr)
    return 0


def explain(
    rule: Annotated[str, typer.Argument(metavar="PACK/NAME", help="Id of the rule.")],
    local: Local = None,
) -> int:
    """Show the page of a rule.

    It says what fails and why, whether the fix is safe, and has the cases that test the rule.
    """
    from rich.console import Console
    from rich.markdown import Markdown

    from devfix.cli.output.screen import size_and_color
    from devfix.report.plain import plain
    from devfix.rule_testing.pages.page import read_page

    found = _catalog(local).find(rule)
    page = read_page(found.page)
    text = page.text.rstrip("\n") + _options(found) + f"\n\n---\n\n`{found.id}` comes from {found.origin}.\n"
    text = plain(text)  # the page of a pack is untrusted text for the terminal
    width, color = size_and_color()
    if color:
        Console(width=width).print(Markdown(text))
    else:
        print(text, end="")
    return 0


def _catalog(local: list[Path] | None) -> Catalog:
    from devfix.config import Config
    from devfix.registry.selection import rules_for

    return rules_for(Config(), local or ())


def _record(rule: Rule) -> dict[str, Any]:
    from devfix.rule_testing.pages.page import PageError, read_page

    try:
        safety = str(read_page(rule.page).safety)
    except PageError:
        safety = ""
    return {
        "id": rule.id,
        "pack": rule.pack,
        "title": rule.title,
        "safety": safety,
        "origin": rule.origin,
        "path": str(rule.path),
    }


def _print_table(records: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from devfix.cli.output.screen import size_and_color
    from devfix.report.plain import one_line

    width, color = size_and_color()
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("rule", no_wrap=True)
    for name in ("safety", "title", "from"):
        table.add_column(name, overflow="fold")
    for record in records:
        table.add_row(*(Text(one_line(str(record[key] or "?"))) for key in ("id", "safety", "title", "origin")))
    Console(width=width, no_color=not color, force_terminal=color).print(table)


def _options(rule: Rule) -> str:
    """Return the options of a rule with their defaults, as a section of its page."""
    from devfix.registry.options import format_defaults

    if rule.options is None:
        return ""
    lines = "\n".join(f"{name} = {value}" for name, value in format_defaults(rule.options).items())
    return f'\n\n## Options\n\n```toml\n[tool.devfix.rules."{rule.id}"]\n{lines}\n```'
