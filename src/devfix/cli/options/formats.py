"""The formats in which a report is printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from devfix.report.types import ReportRecord


class ReportFormat(str, Enum):
    """Format in which a report is printed."""

    text = "text"
    json = "json"
    github = "github"
    sarif = "sarif"
    codequality = "codequality"
    summary = "summary"
    outputs = "outputs"
    html = "html"


ReportFormatOption = Annotated[
    ReportFormat,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="Output format: text, json (one object), github (annotations), sarif (2.1.0), codequality "
        "(GitLab's report), summary (Markdown), outputs (lines for GITHUB_OUTPUT), html (one file) [default: text]",
        show_default=False,
    ),
]


VerboseOption = Annotated[bool, typer.Option("--verbose", help="List every rejected candidate in the text report.")]


ExplainRulesOption = Annotated[
    bool,
    typer.Option(
        "--explain-rules",
        help="Show what each rule decided in the text report: what it blamed and with what confidence, or why it "
        "declined, what became of its candidates, and which rule came first.",
    ),
]


def format_report(data: ReportRecord, format: ReportFormat, verbose: bool = False, explain_rules: bool = False) -> str:
    """Return the record of a report in a format; text has the width and the colours of the terminal.

    With `verbose`, the text lists every rejected candidate, with `explain_rules`, what each rule decided; the other
    formats do not change.
    """
    return _text(data, verbose, explain_rules) if format is ReportFormat.text else _FORMATS[format](data)


def format_ending(data: ReportRecord) -> str:
    """Return the end of the text: what became of the fixes."""
    from devfix.cli.output.screen import size_and_color
    from devfix.report.render.terminal.text import ending

    width, color = size_and_color()
    return ending(data, color, width)


def _text(data: ReportRecord, verbose: bool, explain_rules: bool) -> str:
    from devfix.cli.output.screen import size_and_color
    from devfix.report.render.terminal.rules import explained_rules
    from devfix.report.render.terminal.text import text

    width, color = size_and_color()
    rules = explained_rules(data) if explain_rules else ""
    return text(data, color, width, verbose) + rules


def _json(data: ReportRecord) -> str:
    from devfix.report.render.machine_readable.json import dump

    return dump(data)


def _github(data: ReportRecord) -> str:
    from devfix.report.render.terminal.github import workflow_commands

    return workflow_commands(data)


def _sarif(data: ReportRecord) -> str:
    from devfix.report.render.machine_readable.sarif import sarif

    return sarif(data)


def _code_quality(data: ReportRecord) -> str:
    from devfix.report.render.machine_readable.code_quality import code_quality

    return code_quality(data)


def _summary(data: ReportRecord) -> str:
    from devfix.report.render.pull_request.summary import summary

    return summary(data)


def _outputs(data: ReportRecord) -> str:
    from devfix.report.render.terminal.github import outputs

    return outputs(data)


def _html(data: ReportRecord) -> str:
    from devfix.report.render.html.repair import repair_page

    return repair_page(data)


_FORMATS: Mapping[ReportFormat, Callable[[ReportRecord], str]] = {
    ReportFormat.json: _json,
    ReportFormat.github: _github,
    ReportFormat.sarif: _sarif,
    ReportFormat.codequality: _code_quality,
    ReportFormat.summary: _summary,
    ReportFormat.outputs: _outputs,
    ReportFormat.html: _html,
}
