"""Read people's choices from the dashboard before publishing, and write what became of them afterwards."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from devfix.publish import secrets
from devfix.publish.action import ActionKind, PublishAction
from devfix.publish.dashboard.body import MARK, TITLE, Entry, EntryState, choices, entries, write
from devfix.publish.forges.capabilities import Issue, Issues
from devfix.publish.proposals.proposal import Proposal
from devfix.publish.publish_options import Choices
from devfix.report.fingerprint import program_id
from devfix.report.types import ReportRecord

LISTED: Final = "listed"
"""The action of the step that wrote the dashboard."""
_OPEN = ("opened", "updated", "reopened", "unchanged")
_DONE = ("clean", "repaired")
Results = Sequence[tuple[Proposal, PublishAction, str]]
"""Each proposal, what was done with it, and the title that it has."""


class Dashboard:
    """The dashboard of a repository, for the run of one report."""

    def __init__(self, issues: Issues, data: ReportRecord, source: str) -> None:
        """Read the dashboard, if there is one; `source` is what publishes."""
        self._issues, self._data, self._source = issues, data, source
        self._program = program_id(data)
        self._read = issues.find(MARK)
        is_on = self._read is not None and self._read.is_open
        self.choices = choices(self._read.body) if is_on and self._read else Choices()

    def update(self, results: Results, dry_run: bool, accepted: Collection[str]) -> Iterator[PublishAction]:
        """Write what was done with the proposals, and yield the step."""
        now = self._issues.find(MARK) if self._read else None
        if now is not None and not now.is_open:
            yield _step("left", now, "the dashboard was closed by a person: not used")
            return
        known = entries(now.body) if now else []
        ticked = choices(now.body) if now else Choices()
        pending = ticked.retry - (self.choices.retry & {proposal.failures[0] for proposal, _, _ in results})
        body = write(list(self._merge(known, results, ticked)), pending)
        if now is None and not entries(body):
            return
        if now is not None and now.body.replace("\r\n", "\n").strip() == body.strip():
            return
        secrets.check({"the dashboard": body}, accepted)
        if dry_run:
            yield PublishAction(LISTED, "", now.number if now else 0, now.url if now else "", TITLE)
            return
        if now is None:
            now = self._issues.create(TITLE, body, MARK)
        else:
            self._issues.write(now.number, body)
        yield _step(LISTED, now, "")

    def _merge(self, known: Sequence[Entry], results: Results, ticked: Choices) -> Iterator[Entry]:
        """Yield the entries of this run, and those known ones that it says nothing about."""
        ours = [self._entry(proposal, step, title, ticked) for proposal, step, title in results]
        yield from ours
        for entry in known:
            if entry.key in {each.key for each in ours}:
                continue
            is_from_here = entry.program == self._program or (self._source and entry.source == self._source)
            is_ignored = entry.key in ticked.ignore
            if is_from_here and self._data.outcome in _DONE and not is_ignored:
                continue  # the failure is gone
            state = EntryState.ignored if is_ignored else entry.state
            if state is EntryState.ignored and not is_ignored:
                state = EntryState.left
            yield Entry(entry.key, entry.title, entry.program, entry.source, entry.number, state, entry.reason)

    def _entry(self, proposal: Proposal, step: PublishAction, title: str, ticked: Choices) -> Entry:
        key = proposal.failures[0]
        state, reason = EntryState.open, ""
        if step.action not in _OPEN:
            state, reason = EntryState.left, step.why
        if key in ticked.ignore:
            state, reason = EntryState.ignored, ""
        return Entry(key, title, self._program, self._source, step.number, state, reason)


def _step(action: ActionKind, issue: Issue, why: str) -> PublishAction:
    return PublishAction(action, "", issue.number, issue.url, TITLE, why)
