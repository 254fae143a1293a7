"""The messages of the commits of a fix and of its test."""

from __future__ import annotations

import textwrap
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from devfix.model import Failure, Fix, RegressionTest, World
from devfix.report.failure_record import operand_name
from devfix.report.plain import one_line, plain

SUBJECT = 72  # git log and most forges truncate longer ones


def commit_message(failure: Failure, fix: Fix, command: str, world: World) -> str:
    """Return the commit message of a fix: what it does, the rule, the reason, the failure before, the verdict after.

    `command` is the shell command that was run in `world`.
    """
    return (
        _templates()
        .get_template("message.txt.jinja")
        .render(
            subject=one_line(fix.patch.title[:1].upper() + fix.patch.title[1:], SUBJECT).rstrip("."),
            patch=fix.patch,
            failure=failure,
            operands=[(operand_name(operand, failure), operand) for operand in failure.operands],
            verdict=fix.verdict,
            command=command,
            world=world,
        )
    )


def test_message(guard: RegressionTest, fix: Fix) -> str:
    """Return the commit message of a regression test: what it calls, and its outcomes without the fix and with it."""
    return (
        _templates()
        .get_template("test.txt.jinja")
        .render(
            subject=one_line(f"Test: {fix.patch.title}", SUBJECT).rstrip("."),
            exercises=guard.exercises,
            worlds=[(name, before, after) for name, (before, after) in guard.worlds.items()],
        )
    )


@cache
def _templates() -> Environment:
    # Plain text: no markup to escape; the templates apply `plain` to text that comes from the program.
    environment = Environment(
        loader=PackageLoader("devfix.report"),
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
        lstrip_blocks=True,
    )
    environment.filters["wrap"] = wrap_paragraph
    environment.filters["one_line"] = one_line
    environment.filters["plain"] = plain
    return environment


def wrap_paragraph(text: str, columns: int = 72, indent: str = "") -> str:
    """Wrap a paragraph without breaking words, so that paths and expressions stay in one piece.

    No line begins with "#": git would drop it as a comment when a person edits the message.
    """
    lines = textwrap.wrap(
        one_line(text, 2000),
        columns,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(" " + line if line.startswith("#") else line for line in lines)
