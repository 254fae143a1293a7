"""A single comment on a pull request, updated in place: for code from forks, which devfix does not push."""

from __future__ import annotations

from collections.abc import Collection

from devfix.publish import secrets
from devfix.publish.action import PublishAction
from devfix.publish.forges.forge import Forge
from devfix.publish.marker import break_delimiters
from devfix.publish.proposals.pull_request_text import PullRequestText
from devfix.report.fingerprint import program_id
from devfix.report.types import ReportRecord


def comment(
    data: ReportRecord,
    number: int,
    forge: Forge,
    words: PullRequestText,
    dry_run: bool,
    accepted: Collection[str] = (),
) -> PublishAction:
    """Create or update the comment; do nothing if there is neither a failure nor an earlier comment."""
    mark = f"<!-- devfix:comment {program_id(data)} -->"
    text = f"{forge.safe_body(break_delimiters(words.comment())).rstrip()}\n\n{mark}\n"
    secrets.check({"the comment": text}, accepted)
    earlier = next((each for each in forge.own_comments(number) if mark in each.body), None)
    if earlier is None and data.outcome == "clean":
        return PublishAction("unchanged", "", number, why="no device failure, and no earlier comment")
    if earlier and earlier.body.replace("\r\n", "\n").strip() == text.strip():
        return PublishAction("unchanged", "", number, earlier.url)
    if dry_run:
        return PublishAction("commented", "", number, earlier.url if earlier else "")
    if earlier:
        forge.rewrite(number, earlier.id, text)
        return PublishAction("updated", "", number, earlier.url)
    return PublishAction("commented", "", number, forge.say(number, text))
