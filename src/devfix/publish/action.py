"""The actions on pull requests, as a record, as a line of text and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from devfix.report.plain import one_line
from devfix.report.render.pull_request.markdown import code, prose

ActionKind = Literal[
    "opened",
    "updated",
    "reopened",
    "unchanged",
    "closed",
    "deleted",  # its branch
    "left",
    "written",  # as a patch
    "commented",
    "suggested",
    "listed",  # in the dashboard, whose number it is
    "rebase",
    "ignore",
    "explain",
]


@dataclass(frozen=True)
class PublishAction:
    """The action taken on one pull request, with its reason. Without a pull request, `number` is 0, `url` ""."""

    action: ActionKind
    branch: str
    number: int = 0
    url: str = ""
    title: str = ""
    why: str = ""


def describe(step: PublishAction) -> str:
    """Return a step in one line."""
    parts = [step.action, f"#{step.number}" if step.number else "", step.branch, step.title, step.url]
    return one_line("  ".join(part for part in parts if part) + (f": {step.why}" if step.why else ""), 400)


def summarize(steps: Sequence[PublishAction]) -> str:
    """Return steps as Markdown for the summary of a job: a list item each, with a link to the pull request."""
    lines = ["## devfix: pull requests", "", *map(_item, steps)]
    if not steps:
        lines.append("Nothing to publish: the report has no fix.")
    return "\n".join(lines) + "\n"


def _item(step: PublishAction) -> str:
    # The URL is that of the forge's answer: only what cannot end the link is printed as one.
    is_link = step.url.startswith("https://") and step.url.isascii() and not set(step.url) & set("()<> \\[]\"'`")
    where = f"[#{step.number}]({step.url})" if step.number and is_link else code(step.branch)
    text = f"- {step.action.capitalize()} {where}"
    return text + (f": {prose(step.title)}" if step.title else "") + (f" ({prose(step.why)})" if step.why else "")
