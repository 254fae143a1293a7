"""The commits of proposals, and every text of theirs that others will read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from devfix.publish.proposals.artifact import Artifact
from devfix.publish.proposals.proposal import Proposal
from devfix.publish.proposals.pull_request_text import PullRequestText
from devfix.workspace import Actor, Remote


@dataclass(frozen=True)
class Drafts:
    """Creates commits in the local copy of a remote.

    `safe_body` and `safe_message` take out of texts what a program that reads them would execute.
    """

    artifact: Artifact
    remote: Remote
    words: PullRequestText
    author: Actor
    safe_body: Callable[[str], str]
    safe_message: Callable[[str], str] = str

    def body(self, proposal: Proposal) -> str:
        """Return the body of the pull request."""
        return self.safe_body(self.words.body(proposal))

    def tip(self, proposal: Proposal) -> str:
        """Return the last of the commits, one for each fix and each test."""
        steps = []
        for fix, files in zip(proposal.fixes, proposal.files, strict=True):
            steps.append((files, self.safe_message(self.words.message(fix))))
            tests = [(guarded, test) for (guarded, since), test in proposal.tests.items() if since == fix]
            steps += [(test, self.safe_message(self.words.test_message(guarded))) for guarded, test in tests]
        return self.remote.commits(self.artifact.commit, steps, self.author)

    def outgoing(self, drafts: Iterable[tuple[Proposal, str]]) -> dict[str, str]:
        """Return every text that would be published, by a name for error messages."""
        texts = {}
        for proposal, tip in drafts:
            texts[f"the diff for {proposal.branch}"] = self.remote.diff(self.artifact.commit, tip)
            texts[f"the text for {proposal.branch}"] = self.body(proposal)
            for fix in proposal.fixes:
                texts[f"the commit message of fix {fix + 1}"] = self.words.message(fix)
            for fix, _ in proposal.tests:
                texts[f"the commit message of the test of fix {fix + 1}"] = self.words.test_message(fix)
        return texts
