"""Requests to GitLab's API, through python-gitlab. A pull request is a merge request there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from gitlab import Gitlab
from gitlab.exceptions import GitlabError

from devfix import __version__
from devfix.errors import UserError
from devfix.publish.forges.forge import Comment, DraftTitles, Forge
from devfix.publish.forges.gitlab.address import ProjectAddress
from devfix.publish.forges.gitlab.answers import asking, refusal
from devfix.publish.forges.gitlab.session import PatientSession
from devfix.publish.forges.gitlab.text import without_quick_actions, without_references
from devfix.publish.forges.patience import Patience
from devfix.publish.forges.pull import Pull
from devfix.publish.marker import find

PAGE, PAGES = 100, 10
TIMEOUT = 30.0  # seconds for one response


class GitLabClient(Forge):
    """Client for one project on GitLab, gitlab.com or self-managed."""

    name = "GitLab"
    noun = "merge request"
    sign = "!"

    def __init__(self, address: ProjectAddress, token: str | None, notify: Callable[[str], None]) -> None:
        """Connect to the API of a server; `notify` is called before waiting."""
        self._address = address
        # As a bearer token: requests sends that to no other host. python-gitlab's own retries are off, since its waits
        # have no limit; the session waits instead.
        server = Gitlab(
            address.server,
            oauth_token=token,
            timeout=TIMEOUT,
            user_agent=f"devfix/{__version__}",
            keep_base_url=True,
            session=PatientSession(Patience(self.name, notify)),
        )
        self._server, self._project = server, server.projects.get(address.path, lazy=True)
        self._titles = DraftTitles("Draft: ", r"(?:Draft:|\[Draft\]|\(Draft\))\s*")

    def open_pulls(self) -> Iterator[Pull]:
        """Yield the open merge requests from branches of this project, newest first."""
        for page in range(1, PAGES + 1):
            found = self._list(page=page, state="opened")
            yield from (self._pull(data) for data in found if _is_own(data))
            if len(found) < PAGE:
                return

    def own_pulls(self, branch: str) -> list[Pull]:
        """Return the merge requests from a branch of this project, open and closed, newest first."""
        found = self._list(state="all", source_branch=branch)
        return [self._pull(data) for data in found if _is_own(data) and data["source_branch"] == branch]

    def _list(self, page: int = 1, **which: str) -> list[Mapping[str, Any]]:
        with asking("list merge requests"):
            options: dict[str, Any] = {"scope": "all", "order_by": "created_at", "sort": "desc", **which}
            found = self._project.mergerequests.list(get_all=False, page=page, per_page=PAGE, **options)
            return [_check_attributes(each.attributes) for each in found]

    def _pull(self, data: Mapping[str, Any]) -> Pull:
        is_open = data["state"] in ("opened", "locked")  # locked: being merged
        return Pull(
            number=data["iid"],
            url=data["web_url"],
            branch=data["source_branch"],
            base=data["target_branch"],
            head=data.get("sha") or "",
            title=self._titles.read(data["iid"], data["title"]),
            body=data.get("description") or "",
            closed_at="" if is_open else data.get("closed_at") or data.get("merged_at") or "unknown",
            merged=data["state"] == "merged",
            repository=str(data["source_project_id"]),
            marker=find(data.get("description")),
        )

    def create(self, title: str, body: str, branch: str, base: str, draft: bool) -> Pull:
        """Open a merge request, or return the open one of the same branches."""
        wanted = {
            "source_branch": branch,
            "target_branch": base,
            "title": self._titles.new(title, draft),
            "description": without_quick_actions(body),
        }
        with asking("open a merge request"):
            try:
                return self._pull(_check_attributes(self._project.mergerequests.create(wanted).attributes))
            except GitlabError as error:
                opened = [pull for pull in self.own_pulls(branch) if pull.is_open and pull.base == base]
                if error.response_code != 409 or not opened:
                    raise
                return opened[0]  # it was opened, and the response was lost

    def write(self, number: int, body: str, title: str) -> None:
        """Replace the title and the description of a merge request; a draft stays one."""
        self._update(number, f"change merge request !{number}", title=self._titles.write(number, title), **_text(body))

    def close(self, number: int, body: str) -> None:
        """Close a merge request and replace its description in one request."""
        self._update(number, f"close merge request !{number}", state_event="close", **_text(body))

    def reopen(self, number: int) -> bool:
        """Reopen a merge request; return False if GitLab does not, since its branch was deleted."""
        answer: dict[str, Any] = {}
        what = f"reopen merge request !{number}"
        refused = refusal(lambda: answer.update(self._update(number, what, state_event="reopen")))
        return not refused and answer.get("state") == "opened"

    def _update(self, number: int, what: str, **changes: object) -> Mapping[str, Any]:
        with asking(what):
            answer = self._project.mergerequests.update(number, changes)
            if not isinstance(answer, dict):
                raise TypeError("the response is not an object")
            return answer

    def label(self, number: int, labels: Sequence[str]) -> str:
        """Add labels to a merge request; GitLab leaves those out that do not exist and that the token cannot create."""
        answer: dict[str, Any] = {}
        what = f"label merge request !{number}"
        refused = refusal(lambda: answer.update(self._update(number, what, add_labels=list(labels))))
        missing = [name for name in labels if name not in answer.get("labels", ())]
        return refused or (
            f"{', '.join(missing)}: to create a label a token needs the role Reporter" if missing else ""
        )

    def request_reviews(self, number: int, reviewers: Sequence[str]) -> str:
        """Request reviews from people; GitLab has no reviews of groups."""
        return self._set_people(number, "reviewers", reviewers)

    def assign(self, number: int, assignees: Sequence[str]) -> str:
        """Assign a merge request to people."""
        return self._set_people(number, "assignees", assignees)

    def _set_people(self, number: int, what: str, names: Sequence[str]) -> str:
        """Set the reviewers or assignees; return which of them GitLab does not take."""
        known: dict[str, int] = {}
        refused = refusal(lambda: known.update(self._users(names)))
        answer: dict[str, Any] = {}
        if known:
            field = {f"{what[:-1]}_ids": list(known.values())}
            action = f"set the {what} of merge request !{number}"
            refused = refusal(lambda: answer.update(self._update(number, action, **field)))
        taken = {str(each["username"]).lower() for each in answer.get(what, ())}
        missing = [name for name in names if name.lower() not in taken]
        return refused or (f"{', '.join(missing)} cannot be chosen here" if missing else "")

    def _users(self, names: Sequence[str]) -> dict[str, int]:
        found = {}
        for name in names:
            if "/" not in name:  # a group
                with asking("look up a user"):
                    users = self._server.users.list(username=name, get_all=False)
                    if users:
                        found[name] = int(users[0].attributes["id"])
        return found

    def set_milestone(self, number: int, title: str) -> str:
        """Add a merge request to the open milestone of that title, of the project or of one of its groups."""
        known: list[int] = []
        refused = refusal(lambda: known.extend(self._milestones(title)))
        if not known:
            return refused or f"no open milestone is called {title!r}"
        return refusal(lambda: self._update(number, f"add !{number} to a milestone", milestone_id=known[0]))

    def _milestones(self, title: str) -> list[int]:
        with asking("list milestones"):  # "true" and not True, which would be sent as `True`
            options: dict[str, Any] = {"state": "active", "title": title, "include_ancestors": "true"}
            found = self._project.milestones.list(get_all=False, **options)
            return [int(each.attributes["id"]) for each in found if each.attributes["title"] == title]

    def say(self, number: int, words: str) -> str:
        """Comment on a merge request and return the URL of the comment."""
        with asking(f"comment on merge request !{number}"):
            merge_request = self._project.mergerequests.get(number, lazy=True)
            note = merge_request.notes.create({"body": without_quick_actions(words)})
            return self._note_url(number, note.attributes["id"])

    def own_comments(self, number: int) -> Iterator[Comment]:
        """Yield the comments of the token's user: GitLab lets nobody else change them."""
        with asking("read the user of the token"):
            self._server.auth()
            user = self._server.user
            assert user is not None, "auth() reads the user or raises"
            own = user.attributes["id"]
        for page in range(1, PAGES + 1):
            with asking(f"read the comments of !{number}"):
                notes = self._project.mergerequests.get(number, lazy=True).notes
                options: dict[str, Any] = {
                    "activity_filter": "only_comments",
                    "sort": "asc",
                    "per_page": PAGE,
                    "page": page,
                }
                found = [each.attributes for each in notes.list(get_all=False, **options)]
            for each in found:
                if each["author"]["id"] == own:
                    yield Comment(each["id"], self._note_url(number, each["id"]), each.get("body") or "")
            if len(found) < PAGE:
                return

    def rewrite(self, number: int, comment: int, words: str) -> None:
        """Replace the text of a comment on a merge request."""
        with asking("change a comment"):
            notes = self._project.mergerequests.get(number, lazy=True).notes
            notes.update(comment, {"body": without_quick_actions(words)})

    def _note_url(self, number: int, note: int) -> str:
        return f"{self._address.server}/{self._address.path}/-/merge_requests/{number}#note_{note}"

    def triggering_pull(self, environment: Mapping[str, str]) -> tuple[int, str] | None:
        """Return the number and the commit of the merge request whose pipeline runs."""
        number = environment.get("CI_MERGE_REQUEST_IID", "")
        # With merged results, CI_COMMIT_SHA is a commit that is on no branch.
        commit = environment.get("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA") or environment.get("CI_COMMIT_SHA", "")
        if not number.isdecimal():
            raise UserError("this is not a pipeline of a merge request; give its number: --pull-request N")
        return int(number), commit

    def safe_body(self, text: str) -> str:
        """Return a text without quick actions."""
        return without_quick_actions(text)

    def safe_title(self, title: str) -> str:
        """Return a title without references that only GitLab links."""
        return without_references(title)


def _text(body: str) -> dict[str, str]:
    return {"description": without_quick_actions(body)}


def _is_own(data: Mapping[str, Any]) -> bool:
    return bool(data["source_project_id"] == data["target_project_id"])


def _check_attributes(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the attributes of a merge request; raise KeyError or TypeError if one that is needed is missing."""
    for name, kind in (("iid", int), ("web_url", str), ("source_branch", str), ("target_branch", str), ("title", str)):
        if not isinstance(data[name], kind):
            raise TypeError(f"{name} is not {kind.__name__}")
    _ = data["state"], data["source_project_id"], data["target_project_id"]
    return data
