"""Titles, bodies, commit messages and comments of pull requests, from templates that users may replace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from markupsafe import Markup

from devfix.publish.proposals.convention import title
from devfix.publish.proposals.proposal import Proposal
from devfix.report.plain import one_line
from devfix.report.render.pull_request import templating
from devfix.report.render.pull_request.markdown import code, remove_links
from devfix.report.render.pull_request.summary import reproduce, shorten, view
from devfix.report.render.terminal.headline import catches_failure
from devfix.report.types import FixRecord, ReportRecord

Page = Callable[[str], str]
"""Returns the page of an installed rule, "" if no rule has that id."""

_RULES = 10  # of a pull request that are explained


class PullRequestText:
    """Renders the texts of one report."""

    def __init__(
        self,
        data: ReportRecord,
        recent: Sequence[str],
        page: Page,
        templates: Path | None = None,
        noun: str = "pull request",
    ) -> None:
        """Format titles like the `recent` commit subjects; `templates` may have templates of the user.

        `noun` is what the forge calls a pull request.
        """
        self._data, self._recent, self._page, self._noun = data, recent, page, noun
        self._markdown = templating.markdown("devfix.report", templates)
        self._text = templating.text("devfix.report", templates)

    def title(self, proposal: Proposal) -> str:
        """Return the title of a pull request."""
        first, others = self._fix(proposal.fixes[0]).title, len(proposal.fixes) - 1
        more = f" and {others} more device failure{'s' if others > 1 else ''}" if others else ""
        return title(one_line(first, 72 - len(more)).rstrip(".") + more, self._recent)

    def body(self, proposal: Proposal) -> str:
        """Return the body of a pull request, as Markdown."""
        tested = {fix for fix, _ in proposal.tests}
        every = [
            self._fix(fix) if fix in tested else replace(self._fix(fix), regression_test=None) for fix in proposal.fixes
        ]
        fixes = {fix.failure: fix for fix in every}
        rules = list(dict.fromkeys(fix.rule for fix in fixes.values()))
        remaining = len(self._data.failures) - len(self._data.fixes)
        variables = {
            **view(self._data, fixes),
            "rules": [{"id": rule, "page": Markup(_safe_page(self._page(rule)))} for rule in rules],
            "remaining": max(remaining, 0),
            "is_caught": catches_failure(self._data),
            "others": len(self._data.fixes) - len(fixes),
            "noun": self._noun,
        }
        return shorten(templating.render(self._markdown, "pull_request.md.jinja", **variables))

    def message(self, fix: int) -> str:
        """Return the commit message of a fix."""
        record = self._fix(fix)
        item = view(self._data, {record.failure: record})["failures"][0]
        subject = title(record.title, self._recent)
        text = templating.render(
            self._text,
            "commit.txt.jinja",
            subject=subject,
            item=item,
            report=self._data,
            reproduce=reproduce(self._data),
        )
        return remove_links(text)

    def test_message(self, fix: int) -> str:
        """Return the commit message of the test of a fix."""
        record = self._fix(fix)
        test = record.regression_test
        assert test is not None, "a fix without a test has no message of one"
        plain = title(record.title, self._recent)
        subject = plain.replace("fix: ", "test: ", 1) if plain.startswith("fix: ") else one_line(f"Test: {plain}", 72)
        worlds = [(name, outcome.before, outcome.after) for name, outcome in test.worlds.items()]
        variables = {"subject": subject, "exercises": test.exercises, "worlds": worlds}
        return remove_links(templating.render(self._text, "test.txt.jinja", **variables))

    def comment(self) -> str:
        """Return the comment for the pull request whose code was run."""
        return shorten(templating.render(self._markdown, "comment.md.jinja", **view(self._data)))

    def fixed_comment(self) -> str:
        """Return the comment on closing a pull request whose failure is fixed."""
        return templating.render(self._markdown, "gone.md.jinja", report=self._data, noun=self._noun)

    def superseded_comment(self, reference: str) -> str:
        """Return the comment on closing a pull request whose fixes moved to another one."""
        return f"These changes are now part of {reference}.\n"

    def _fix(self, index: int) -> FixRecord:
        return self._data.fixes[index]


def explanation(rules: Sequence[str], page: Page) -> str:
    """Return what the pages of some rules say, as a comment; rules that are not installed are only named."""
    parts = []
    for rule in rules[:_RULES]:
        said = _safe_page(page(rule))
        parts.append(f"### {code(rule)}\n\n{said or 'This rule has no page here.'}")
    return shorten("\n\n".join(parts) or "The pull request names no rule.")


def _safe_page(page: str) -> str:
    """Return a rule's page up to its cases, without the title and without GitHub mentions."""
    text = page.partition("\n## Cases")[0].partition("\n## cases")[0].partition("\n")[2]
    pieces = text.split("```")
    safe = "```".join(piece if index % 2 else remove_links(piece) for index, piece in enumerate(pieces))
    return safe.replace("\n## ", "\n#### ").strip()
