"""Requests to GitHub's API, through githubkit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from githubkit.exception import RequestFailed

from devfix.errors import UserError
from devfix.publish.forges.forge import Comment, Forge
from devfix.publish.forges.github.address import Address
from devfix.publish.forges.github.answers import asking, list_of, pull_from, record_of, said_by
from devfix.publish.forges.github.connection import PAGE, PAGES, Connection
from devfix.publish.forges.github.discussion import Discussion
from devfix.publish.forges.github.event import event_of, pull_request
from devfix.publish.forges.github.issues import GitHubIssues
from devfix.publish.forges.github.retry import RetryPolicy
from devfix.publish.forges.github.reviews import GitHubReviews
from devfix.publish.forges.github.signed_commits import SignedCommits
from devfix.publish.forges.pull import Pull
from devfix.workspace import Remote


class GitHubClient(Forge):
    """Client for one repository on GitHub or GitHub Enterprise."""

    name = "GitHub"

    def __init__(
        self, address: Address, token: str | None, report: Callable[[str], None], patience: RetryPolicy | None = None
    ) -> None:
        """Connect to the API of an address; `report` is called before waiting."""
        self.connection = Connection(address, token, patience or RetryPolicy(report))
        self._at, self._address, self._github = self.connection.at, address, self.connection.github

    def pulls(self, branch: str, owner: str | None = None) -> list[Pull]:
        """Return the pull requests from a branch, open and closed, newest first."""
        head = f"{owner or self._address.owner}:{branch}"
        with asking("list pull requests"):
            answer = self._github.rest.pulls.list(*self._at, state="all", head=head, per_page=PAGE)
            return [pull_from(data) for data in list_of(answer) if data["head"]["ref"] == branch]

    def open_pulls(self) -> Iterator[Pull]:
        """Yield the open pull requests from branches of this repository, newest first."""
        for page in range(1, PAGES + 1):
            with asking("list pull requests"):
                found = list_of(self._github.rest.pulls.list(*self._at, state="open", per_page=PAGE, page=page))
                pulls = [pull_from(data) for data in found]
            yield from (pull for pull in pulls if self._is_own(pull))
            if len(found) < PAGE:
                return

    def own_pulls(self, branch: str) -> list[Pull]:
        """Return the pull requests from a branch of this repository, without those of forks."""
        return [pull for pull in self.pulls(branch) if self._is_own(pull)]

    def _is_own(self, pull: Pull) -> bool:
        return pull.repository.lower() == self._address.full_name.lower()

    def create(self, title: str, body: str, branch: str, base: str, draft: bool) -> Pull:
        """Open a pull request, as a draft if the repository supports drafts."""
        with asking("open a pull request"):
            try:
                answer = self._github.rest.pulls.create(
                    *self._at, title=title, body=body, head=branch, base=base, draft=draft
                )
            except RequestFailed as error:
                said = said_by(error).lower()
                if draft and "draft" in said:
                    return self.create(title, body, branch, base, False)
                opened = [pull for pull in self.own_pulls(branch) if pull.is_open] if "already exists" in said else []
                if not opened:
                    raise
                return opened[0]  # it was opened, and the response was lost
            return pull_from(record_of(answer))

    def write(self, number: int, body: str, title: str) -> None:
        """Replace the title and the body of a pull request."""
        with asking(f"change pull request #{number}"):
            self._github.rest.pulls.update(*self._at, number, title=title, body=body)

    def close(self, number: int, body: str) -> None:
        """Close a pull request and replace its body in one request."""
        with asking(f"close pull request #{number}"):
            self._github.rest.pulls.update(*self._at, number, body=body, state="closed")

    def reopen(self, number: int) -> bool:
        """Reopen a pull request; return False if its branch was deleted or recreated."""
        try:
            with asking(f"reopen pull request #{number}"):
                self._github.rest.pulls.update(*self._at, number, state="open")
        except UserError as error:
            if isinstance(error.__cause__, RequestFailed) and error.__cause__.response.status_code == 422:
                return False
            raise
        return True

    def label(self, number: int, labels: Sequence[str]) -> str:
        """Add labels to a pull request."""
        said = _refusal(lambda: self._label(number, labels))
        return said and f"{said}; to create a label a token needs `issues: write`"

    def _label(self, number: int, labels: Sequence[str]) -> None:
        with asking(f"label pull request #{number}"):
            self._github.rest.issues.add_labels(*self._at, number, labels=list(labels))

    def request_reviews(self, number: int, reviewers: Sequence[str]) -> str:
        """Request reviews from people, and from teams (`org/team`)."""
        return _refusal(lambda: self._request_reviews(number, reviewers))

    def _request_reviews(self, number: int, reviewers: Sequence[str]) -> None:
        people = [name for name in reviewers if "/" not in name]
        teams = [name.partition("/")[2] for name in reviewers if "/" in name]
        with asking(f"request reviews of pull request #{number}"):
            self._github.rest.pulls.request_reviewers(*self._at, number, reviewers=people, team_reviewers=teams)

    def assign(self, number: int, assignees: Sequence[str]) -> str:
        """Assign a pull request to people."""
        missing: list[str] = []
        refused = _refusal(lambda: missing.extend(self._assign(number, assignees)))
        return refused or (f"{', '.join(missing)} cannot be assigned here" if missing else "")

    def _assign(self, number: int, assignees: Sequence[str]) -> list[str]:
        """Assign people; return those that GitHub left out, since they cannot be assigned."""
        with asking(f"assign pull request #{number}"):
            answer = self._github.rest.issues.add_assignees(*self._at, number, assignees=list(assignees))
            assigned = {str(each["login"]).lower() for each in record_of(answer)["assignees"]}
        return [name for name in assignees if name.lower() not in assigned]

    def set_milestone(self, number: int, title: str) -> str:
        """Add a pull request to the open milestone of that title."""
        known: list[int] = []
        refused = _refusal(lambda: known.extend(self._milestones(title)))
        if not known:
            return refused or f"no open milestone is called {title!r}"
        return _refusal(lambda: self._set_milestone(number, known[0]))

    def _milestones(self, title: str) -> list[int]:
        with asking("list milestones"):
            found = list_of(self._github.rest.issues.list_milestones(*self._at, state="open", per_page=PAGE))
            return [int(each["number"]) for each in found if each["title"] == title]

    def _set_milestone(self, number: int, milestone: int) -> None:
        with asking(f"add pull request #{number} to a milestone"):
            self._github.rest.issues.update(*self._at, number, milestone=milestone)

    def signed_commits(self, remote: Remote) -> SignedCommits:
        """Return what creates signed commits."""
        return SignedCommits(self._github, self._address.full_name, remote)

    def issues(self) -> GitHubIssues:
        """Return the issues of the repository."""
        return GitHubIssues(self.connection)

    def reviews(self) -> GitHubReviews:
        """Return the reviews of pull requests."""
        return GitHubReviews(self.connection)

    def discussion(self) -> Discussion:
        """Return the comments with commands."""
        return Discussion(self.connection)

    def say(self, number: int, words: str) -> str:
        """Comment on a pull request and return the URL of the comment."""
        with asking(f"comment on pull request #{number}"):
            return str(record_of(self._github.rest.issues.create_comment(*self._at, number, body=words))["html_url"])

    def own_comments(self, number: int) -> Iterator[Comment]:
        """Yield the comments of bots and of people who may write to the repository."""
        for page in range(1, PAGES + 1):
            with asking(f"read the comments of #{number}"):
                found = list_of(self._github.rest.issues.list_comments(*self._at, number, per_page=PAGE, page=page))
            for comment in found:
                user = comment.get("user") or {}
                if user.get("type") == "Bot" or comment.get("author_association") in (
                    "OWNER",
                    "MEMBER",
                    "COLLABORATOR",
                ):
                    yield Comment(comment["id"], comment["html_url"], comment.get("body") or "")
            if len(found) < PAGE:
                return

    def rewrite(self, number: int, comment: int, words: str) -> None:
        """Replace the text of a comment on a pull request."""
        with asking("change a comment"):
            self._github.rest.issues.update_comment(*self._at, comment, body=words)

    def triggering_pull(self, environment: Mapping[str, str]) -> tuple[int, str] | None:
        """Return the number and the commit of the pull request that a workflow runs for."""
        return pull_request(event_of(environment), self.pulls)


def _refusal(act: Callable[[], object]) -> str:
    """Return what GitHub says if it refuses, else "". Raises UserError for any other failure of the request."""
    try:
        act()
    except UserError as error:
        cause = error.__cause__
        if isinstance(cause, RequestFailed) and cause.response.status_code in (403, 404, 410, 422):
            return said_by(cause)
        raise
    return ""
