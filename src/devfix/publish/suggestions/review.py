"""Write the fixes of a report as suggestions into a review, and keep it up to date."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from devfix.notebooks.notebook import named_cell
from devfix.publish import secrets
from devfix.publish.action import ActionKind, PublishAction
from devfix.publish.forges.capabilities import Review, Reviews, Suggestion
from devfix.publish.forges.pull import Pull
from devfix.publish.proposals.artifact import Artifact
from devfix.publish.proposals.proposal import Content, Proposal
from devfix.publish.publish_options import PublishOptions
from devfix.publish.suggestions import text
from devfix.publish.suggestions.placing import Change, changes, place
from devfix.report.fingerprint import program_id
from devfix.report.types import FixRecord


class SuggestionReview:
    """The review of one pull request with what was found in its code."""

    def __init__(self, artifact: Artifact, pull: Pull, reviews: Reviews) -> None:
        """Review a pull request whose newest commit the artifact is about."""
        self._artifact, self._pull, self._reviews = artifact, pull, reviews
        self._program = program_id(artifact.data)

    def write(self, proposed: Sequence[Proposal], content: Content, options: PublishOptions) -> PublishAction:
        """Suggest the changes of the proposals; suggestions that are there already stay, and others are outdated."""
        number = self._pull.number
        earlier = self._reviews.own_reviews(number)
        mine = [each for each in earlier if _plain(each.body).endswith(text.review_mark(self._program))]
        latest = mine[-1] if mine else None
        there = {
            mark: each
            for each in self._reviews.own_comments(number)
            if (mark := text.mark_of(each.body)).startswith(self._program) and not text.is_outdated(each.body)
        }
        placed = list(place(self._changes(proposed, content), self._reviews.diff_lines(number) if proposed else {}))
        suggested = text.marks((each for each in placed if isinstance(each, Suggestion)), self._program)
        new = {mark: each for mark, each in suggested.items() if mark not in there or not there[mark].is_current}
        stale = [each for mark, each in there.items() if mark not in suggested]
        body = self._body(proposed, placed)
        comments = [(each, text.comment_text(each, self._fixes(each.path), mark)) for mark, each in new.items()]
        said = {f"the suggestion for {each.path}:{each.first}": comment for each, comment in comments}
        secrets.check({"the review": body, **said}, options.accepted)
        if not mine and not proposed:
            return self._step("unchanged", None)
        is_same = latest is not None and _plain(latest.body) == _plain(body)
        superseded = [each for each in mine[:-1] if not text.is_superseded(each.body)]
        if is_same and not new and not stale and not superseded:
            return self._step("unchanged", latest)
        if options.dry_run:
            return self._step("updated" if mine else "suggested", latest)
        for comment in stale:
            self._reviews.rewrite_comment(comment.id, text.outdated_text(text.mark_of(comment.body)))
        action: ActionKind = "updated"
        if new or latest is None:
            if latest is not None:
                superseded.append(latest)
            commit, action = self._artifact.commit, "suggested"
            latest = self._reviews.create(number, commit, body, comments, [each.id for each in earlier])
        elif not is_same:
            self._reviews.rewrite(number, latest.id, body)
        for each in superseded:
            self._reviews.rewrite(number, each.id, text.superseded_text(latest.url, self._program))
        return self._step(action, latest)

    def _body(self, proposed: Sequence[Proposal], placed: Sequence[Change | Suggestion]) -> str:
        if not proposed:
            return text.nothing_text(self._artifact.commit, self._program)
        outside = [each for each in placed if isinstance(each, Change)]
        tests = sum(len(each.tests) for each in proposed)
        return text.review_text(self._artifact.commit, len(placed) - len(outside), outside, tests, self._program)

    def _changes(self, proposed: Sequence[Proposal], content: Content) -> Iterator[Change]:
        for proposal in proposed:
            after: dict[str, bytes] = {}
            for files in proposal.files:
                after.update(files)
            for path, data in after.items():
                yield from changes(path, content(path), data)

    def _fixes(self, path: str) -> list[FixRecord]:
        """Return the fixes that change a file, or a cell of a notebook in it."""
        return [
            fix
            for fix in self._artifact.data.fixes
            if any((named_cell(edit.path) or (edit.path,))[0] == path for edit in fix.edits)
        ]

    def _step(self, action: ActionKind, review: Review | None) -> PublishAction:
        pull = self._pull
        return PublishAction(action, pull.branch, pull.number, review.url if review else pull.url, pull.title)


def _plain(body: str) -> str:
    return body.replace("\r\n", "\n").strip()
