"""Synchronize the pull requests of a repository with a report: open, update, reopen, close or skip them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timezone

from devfix.publish import secrets
from devfix.publish.action import ActionKind, PublishAction
from devfix.publish.attributes import set_attributes
from devfix.publish.commit_method import CommitMethod
from devfix.publish.forges.forge import Forge
from devfix.publish.forges.pull import Pull
from devfix.publish.marker import Marker, frame_text, replace_text
from devfix.publish.proposals.artifact import Artifact
from devfix.publish.proposals.drafts import Drafts
from devfix.publish.proposals.proposal import PREFIX, Proposal
from devfix.publish.proposals.pull_request_text import PullRequestText
from devfix.publish.publish_options import PublishOptions
from devfix.report.fingerprint import failure_id, program_id
from devfix.workspace import Remote

BRANCHES = 100  # at most so many branches of devfix are examined for closed pull requests: each costs a request


class Publisher:
    """Publishes one report. Publishing is idempotent, and completes an interrupted earlier run."""

    def __init__(
        self, artifact: Artifact, remote: Remote, forge: Forge, words: PullRequestText, options: PublishOptions
    ) -> None:
        """Initialize with the artifact and the clients; `remote` has fetched the base."""
        self._artifact, self._remote, self._forge, self._words, self._options = artifact, remote, forge, words, options
        self._data = artifact.data
        self._program = program_id(artifact.data)
        self._drafts = Drafts(artifact, remote, words, options.person, forge.safe_body)
        self.results: list[tuple[Proposal, PublishAction]] = []

    def publish(self, proposals: Sequence[Proposal]) -> Iterator[PublishAction]:
        """Open or update a pull request per proposal, close outdated ones, and yield each action when it is done."""
        drafts = [(proposal, self._drafts.tip(proposal)) for proposal in proposals]
        secrets.check(self._drafts.outgoing(drafts), self._options.accepted)
        everything = list(self._pulls([proposal.branch for proposal in proposals]))
        known = [pull for pull in everything if pull.base == self._options.base]
        self._open = sum(pull.is_open and pull.marker is not None for pull in everything)
        self._elsewhere = {pull.branch: pull for pull in everything if pull.is_open and pull not in known}
        taken: dict[int, Proposal] = {}
        for proposal, tip in drafts:
            step = self._settle(proposal, tip, known, taken)
            self.results.append((proposal, step))
            yield step
        yield from self._close(known, taken)

    def _pulls(self, names: Sequence[str]) -> Iterator[Pull]:
        """Yield all open pull requests, and those from branches of these names and of devfix, each once."""
        opened = list(self._forge.open_pulls())
        patterns = [f"{PREFIX}*", *names, *(pull.branch for pull in opened if pull.marker)]
        self._branches = self._remote.branches(*dict.fromkeys(patterns))
        seen = {pull.number for pull in opened}
        yield from opened
        if not names and not self._options.delete_branches:
            return  # nothing to propose: the closed ones stay as they are
        for name in [*dict.fromkeys([*names, *self._branches])][:BRANCHES]:
            yield from (pull for pull in self._forge.own_pulls(name) if pull.number not in seen)

    def _is_from_here(self, marker: Marker) -> bool:
        """Return whether the program of this report was run, or another one by the workflow that publishes it."""
        return marker.program == self._program or (bool(marker.source) and marker.source == self._options.source)

    def _settle(self, proposal: Proposal, tip: str, known: Sequence[Pull], taken: dict[int, Proposal]) -> PublishAction:
        """Push one proposal to its branch and update its pull request."""
        mine = [pull for pull in known if _is_about(pull, proposal) and pull.number not in taken]
        mine.sort(key=lambda pull: pull.branch != proposal.branch)
        chosen = next((pull for pull in mine if pull.is_open), None)
        again = proposal.failures[0] in self._options.choices.retry or bool(chosen and chosen.wants_retry)
        if proposal.failures[0] in self._options.choices.ignore:
            return self._ignore(proposal, chosen or next(iter(mine), None), taken)
        if chosen is None:
            rejected = next((pull for pull in mine if _rejects(pull, proposal)), None)
            if rejected and not again:
                return _step("left", rejected, "closed by a person: not reopened")
            chosen = next((pull for pull in mine if not pull.merged and (again or not pull.rejected)), None)
        elif chosen.marker and not self._is_from_here(chosen.marker):
            taken[chosen.number] = proposal
            return _step("left", chosen, "about the same failure, found by another command")
        branch = chosen.branch if chosen else proposal.branch
        if other := self._elsewhere.get(branch):
            shown = f"{self._forge.sign}{other.number}"
            why = f"{shown} has this branch, with the base {other.base}: choose another with --branch"
            return PublishAction("left", branch, why=why)
        there = self._branches.get(branch, "")
        if there and there != tip and not self._remote.is_ours(there):
            if chosen:
                taken[chosen.number] = proposal
            why = "the branch has commits of others: not updated"
            return _step("left", chosen, why) if chosen else PublishAction("left", branch, why=why)
        if (chosen is None or not chosen.is_open) and (why := self._explain_denial()):
            return _step("left", chosen, why) if chosen else PublishAction("left", branch, why=why)
        if chosen:
            taken[chosen.number] = proposal
            marker = chosen.marker
            if marker and there and marker.tip == there and marker.patch == proposal.patch and not again:
                tip = there  # the same change on an older commit: a push would only restart the checks
        return self._write(proposal, branch, tip, there, chosen)

    def _write(self, proposal: Proposal, branch: str, tip: str, there: str, pull: Pull | None) -> PublishAction:
        text, title = self._drafts.body(proposal), self._forge.safe_title(self._words.title(proposal))
        marker = Marker(
            program=self._program,
            failures=proposal.failures,
            rules=tuple(dict.fromkeys(self._data.fixes[fix].rule for fix in proposal.fixes)),
            commit=self._artifact.commit,
            tip=tip,
            patch=proposal.patch,
            complete=True,
            source=self._options.source,
            title=title,
        )
        if pull is None or not pull.is_open:
            self._open += 1
        if self._options.dry_run:
            return _step("updated", pull, "") if pull else PublishAction("opened", branch, title=title)
        action: ActionKind = "updated"
        if pull and not pull.is_open:  # before the push: afterwards, GitHub does not reopen it
            if there and self._forge.reopen(pull.number):
                action = "reopened"
            else:
                pull = None
        note = ""
        if tip != there:
            tip, note = self._push(branch, tip, there)
            if not tip:
                return PublishAction("left", branch, why="the branch moved during publishing: the next run updates it")
            marker = replace(marker, tip=tip)
        if pull is None:
            return _add_note(self._create(branch, title, text, marker), note)
        why = "" if pull.marker and pull.marker.complete else self._set_attributes(pull)
        body = replace_text(pull.body, text, marker)
        if not (pull.marker and pull.title == pull.marker.title):
            title = pull.title  # a person has written another
        is_same = title == pull.title and body == pull.body.replace("\r\n", "\n")
        if is_same and action == "updated" and tip == there:
            return _step("unchanged", pull, "")
        self._forge.write(pull.number, body, title)
        return _add_note(replace(_step(action, pull, why), title=title), note)

    def _push(self, branch: str, tip: str, there: str) -> tuple[str, str]:
        """Push commits to a branch; return the id of the last one there, "" if the branch moved, and a note."""
        note = ""
        if self._options.commits is CommitMethod.api:
            creator = self._forge.signed_commits(self._remote)
            if creator is not None:
                return creator.push(branch, self._artifact.commit, tip, there), ""
            note = f"{self._forge.lacks('API that signs commits')}: pushed with git"
        return tip if self._remote.push(branch, tip, there) else "", note

    def _ignore(self, proposal: Proposal, pull: Pull | None, taken: dict[int, Proposal]) -> PublishAction:
        """Close the pull request of a failure that a person ignores, if it is open, so that it can be reopened."""
        why = "ignored in the dashboard"
        if pull is None:
            return PublishAction("left", proposal.branch, title=self._words.title(proposal), why=why)
        taken[pull.number] = proposal
        if not (pull.is_open and pull.marker and self._is_from_here(pull.marker)):
            return _step("left", pull, why)
        if not self._options.dry_run:
            closing = pull.marker.at(datetime.now(timezone.utc))
            self._forge.close(pull.number, replace_text(pull.body, None, closing))
        return _step("closed", pull, why)

    def _create(self, branch: str, title: str, text: str, marker: Marker) -> PublishAction:
        """Open a pull request, and mark it complete once it has its labels, reviewers and the like."""
        unfinished = replace(marker, complete=not self._options.attributes)
        options = self._options
        pull = self._forge.create(title, frame_text(text, unfinished), branch, options.base, options.draft)
        why = self._set_attributes(pull)
        if options.attributes:
            self._forge.write(pull.number, frame_text(text, marker), title)
        return _step("opened", pull, why)

    def _set_attributes(self, pull: Pull) -> str:
        """Set labels and the like, only once: a person may remove them. Return why some were refused, else ""."""
        return set_attributes(self._forge, pull.number, self._options.attributes)

    def _explain_denial(self) -> str:
        """Return why no further pull request may be open; "" if one may."""
        if self._options.max_open is not None and self._open >= self._options.max_open:
            return (
                f"{self._open} {self._forge.noun}s of devfix are open, and {self._options.max_open} may be (--max-open)"
            )
        return self._options.permit()

    def _close(self, known: Iterable[Pull], taken: dict[int, Proposal]) -> Iterator[PublishAction]:
        """Close pull requests whose failure is fixed or whose fixes moved to another pull request."""
        if self._data.outcome not in ("clean", "repaired"):
            return  # the program did not run to its end: later failures may still exist
        seen = {failure_id(failure) for failure in self._data.failures}
        for pull in known:
            marker = pull.marker
            if pull.number in taken or marker is None or not self._is_from_here(marker):
                continue
            if not pull.is_open:
                if not pull.rejected and self._delete_branch(pull):
                    yield _step("deleted", pull, "the branch of a pull request that is closed")
                continue
            home = next((n for n, other in taken.items() if set(marker.failures) <= set(other.failures)), 0)
            if seen & set(marker.failures) and not home:
                continue
            moved_to = f"{self._forge.sign}{home}" if home else ""
            there = self._branches.get(pull.branch, "")
            if there and not self._remote.is_ours(there):
                yield _step("left", pull, "the failure is fixed, but the branch has commits of others")
                continue
            if not self._options.dry_run:
                closing = marker.at(datetime.now(timezone.utc))
                self._forge.close(pull.number, replace_text(pull.body, None, closing))
                self._forge.say(
                    pull.number, self._words.superseded_comment(moved_to) if home else self._words.fixed_comment()
                )
                self._delete_branch(replace(pull, head=there))
            yield _step("closed", pull, f"its fixes are in {moved_to}" if home else "the failure is fixed")

    def _delete_branch(self, pull: Pull) -> bool:
        """Delete the branch of a closed pull request if nobody else uses it; return whether it was there."""
        there = self._branches.get(pull.branch, "")
        is_used = pull.branch in self._elsewhere or pull.branch in {step.branch for _, step in self.results}
        if not self._options.delete_branches or not there or there != pull.head or is_used:
            return False
        if not self._remote.is_ours(there):
            return False
        return self._options.dry_run or self._remote.delete(pull.branch, there)


def _is_about(pull: Pull, proposal: Proposal) -> bool:
    return pull.branch == proposal.branch or bool(pull.marker and set(pull.marker.failures) & set(proposal.failures))


def _rejects(pull: Pull, proposal: Proposal) -> bool:
    """Return whether a person closed it for the first failure; later failures only appear after its fix."""
    return pull.rejected and (pull.marker is None or proposal.failures[0] in pull.marker.failures)


def _add_note(step: PublishAction, note: str) -> PublishAction:
    return replace(step, why="; ".join(filter(None, [step.why, note])))


def _step(action: ActionKind, pull: Pull, why: str) -> PublishAction:
    return PublishAction(action, pull.branch, pull.number, pull.url, pull.title, why)
