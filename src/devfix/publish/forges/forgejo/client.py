"""The client for Forgejo and Gitea."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from devfix.errors import UserError
from devfix.publish.forges.forge import Comment, DraftTitles, Forge
from devfix.publish.forges.forgejo.address import ForgejoAddress
from devfix.publish.forges.forgejo.answers import Requests, asking, list_of, record_of, refusal
from devfix.publish.forges.patience import Patience
from devfix.publish.forges.pull import Pull
from devfix.publish.marker import find

PAGE, PAGES = 50, 20  # 50 is the most that a server returns as it is delivered
COLOR = "#0366d6"  # of labels that are created: the API has no default
ACTIONS = -2  # the id of the user as which a job of theirs comments


class ForgejoClient(Forge):
    """Client for one repository on Forgejo or Gitea."""

    def __init__(self, name: str, address: ForgejoAddress, token: str | None, notify: Callable[[str], None]) -> None:
        """Connect to the API of a server; `notify` is called before waiting."""
        self.name, self._address = name, address
        self._request = Requests(address.api, token, Patience(name, notify))
        self._at = f"/repos/{quote(address.owner, safe='')}/{quote(address.name, safe='')}"
        self._titles = DraftTitles("WIP: ", r"(?:WIP:|\[WIP\])\s*")
        self._listed: list[Pull] | None = None

    def open_pulls(self) -> Iterator[Pull]:
        """Yield the open pull requests from branches of this repository, newest first."""
        yield from self._pulls("open")

    def own_pulls(self, branch: str) -> list[Pull]:
        """Return the pull requests from a branch of this repository, open and closed.

        The API cannot search by branch: all are listed at the first call, those that changed last first.
        """
        if self._listed is None:
            self._listed = [*self._pulls("open"), *self._pulls("closed")]
        return [pull for pull in self._listed if pull.branch == branch]

    def _pulls(self, state: str) -> Iterator[Pull]:
        with asking(self.name, "list pull requests"):
            for data in self._pages("/pulls", state=state, sort="recentupdate"):
                pull = self._pull(data)
                if pull.repository.lower() == self._address.full_name.lower():
                    yield pull

    def _pages(self, path: str, **query: str) -> Iterator[Mapping[str, Any]]:
        seen = 0
        for page in range(1, PAGES + 1):
            answer = self._request("GET", self._at + path, page=page, limit=PAGE, **query)
            found = list_of(answer)
            yield from found
            seen += len(found)
            total = answer.headers.get("X-Total-Count", "")
            if not found or (total.isdecimal() and seen >= int(total)):
                return

    def _pull(self, data: Mapping[str, Any]) -> Pull:
        head = data["head"]
        return Pull(
            number=data["number"],
            url=data["html_url"],
            branch=head["label"],  # `ref` is another name once the branch was deleted
            base=data["base"]["ref"],
            head=head.get("sha") or "",
            title=self._titles.read(data["number"], data["title"]),
            body=data.get("body") or "",
            closed_at="" if data["state"] == "open" else data.get("closed_at") or "unknown",
            merged=bool(data.get("merged")),
            repository=(head.get("repo") or {}).get("full_name", ""),
            marker=find(data.get("body")),
        )

    def create(self, title: str, body: str, branch: str, base: str, draft: bool) -> Pull:
        """Open a pull request, or return the open one of the same branches."""
        wanted = {"title": self._titles.new(title, draft), "body": body, "head": branch, "base": base}
        with asking(self.name, "open a pull request"):
            try:
                return self._pull(record_of(self._request("POST", f"{self._at}/pulls", wanted)))
            except httpx.HTTPStatusError as error:
                same = [each for each in self._pulls("open") if (each.branch, each.base) == (branch, base)]
                if error.response.status_code != 409 or not same:
                    raise
                return same[0]  # it was opened, and the response was lost

    def write(self, number: int, body: str, title: str) -> None:
        """Replace the title and the body of a pull request; a draft stays one."""
        self._change(number, f"change pull request #{number}", title=self._titles.write(number, title), body=body)

    def close(self, number: int, body: str) -> None:
        """Close a pull request and replace its body in one request."""
        self._change(number, f"close pull request #{number}", state="closed", body=body)

    def reopen(self, number: int) -> bool:
        """Reopen a pull request; return False if the forge does not, since its branch was deleted."""
        answer: dict[str, Any] = {}
        refused = refusal(lambda: answer.update(self._change(number, f"reopen pull request #{number}", state="open")))
        return not refused and answer.get("state") == "open"

    def _change(self, number: int, what: str, **changes: object) -> Mapping[str, Any]:
        with asking(self.name, what):
            return record_of(self._request("PATCH", f"{self._at}/pulls/{number}", changes))

    def label(self, number: int, labels: Sequence[str]) -> str:
        """Add labels to a pull request, and create those that neither the repository nor its organization has."""
        return refusal(lambda: self._label(number, labels))

    def _label(self, number: int, labels: Sequence[str]) -> None:
        with asking(self.name, f"label pull request #{number}"):
            known = {each["name"]: each["id"] for each in self._pages("/labels")}
            if not set(labels) <= known.keys():
                known = {**self._labels_of_organization(), **known}
            for name in labels:
                if name not in known:
                    wanted = {"name": name, "color": COLOR}
                    known[name] = record_of(self._request("POST", f"{self._at}/labels", wanted))["id"]
            chosen = {"labels": [known[name] for name in labels]}
            self._request("POST", f"{self._at}/issues/{number}/labels", chosen)

    def _labels_of_organization(self) -> dict[str, int]:
        try:
            answer = self._request("GET", f"/orgs/{quote(self._address.owner, safe='')}/labels", limit=PAGE)
            return {each["name"]: each["id"] for each in list_of(answer)}
        except httpx.HTTPStatusError:
            return {}  # the owner is a person, or the token may not read organizations

    def request_reviews(self, number: int, reviewers: Sequence[str]) -> str:
        """Request reviews from people, and from teams (`org/team`)."""
        people = [name for name in reviewers if "/" not in name]
        teams = [name.partition("/")[2] for name in reviewers if "/" in name]

        def act() -> None:
            with asking(self.name, f"request reviews of pull request #{number}"):
                wanted = {"reviewers": people, "team_reviewers": teams}
                self._request("POST", f"{self._at}/pulls/{number}/requested_reviewers", wanted)

        return refusal(act)

    def assign(self, number: int, assignees: Sequence[str]) -> str:
        """Assign a pull request to people."""
        answer: dict[str, Any] = {}
        what = f"assign pull request #{number}"
        refused = refusal(lambda: answer.update(self._change(number, what, assignees=list(assignees))))
        assigned = {str(each["login"]).lower() for each in answer.get("assignees") or ()}
        missing = [name for name in assignees if name.lower() not in assigned]
        return refused or (f"{', '.join(missing)} cannot be assigned here" if missing else "")

    def set_milestone(self, number: int, title: str) -> str:
        """Add a pull request to the open milestone of that title."""
        known: list[int] = []
        refused = refusal(lambda: known.extend(self._milestones(title)))
        if not known:
            return refused or f"no open milestone is called {title!r}"
        return refusal(lambda: self._change(number, f"add #{number} to a milestone", milestone=known[0]))

    def _milestones(self, title: str) -> list[int]:
        with asking(self.name, "list milestones"):
            found = self._pages("/milestones", state="open", name=title)
            return [int(each["id"]) for each in found if each["title"] == title]

    def say(self, number: int, words: str) -> str:
        """Comment on a pull request and return the URL of the comment."""
        with asking(self.name, f"comment on pull request #{number}"):
            answer = self._request("POST", f"{self._at}/issues/{number}/comments", {"body": words})
            return str(record_of(answer)["html_url"])

    def own_comments(self, number: int) -> Iterator[Comment]:
        """Yield the comments of the token's user and of jobs of this repository."""
        with asking(self.name, f"read the comments of #{number}"):
            found = list_of(self._request("GET", f"{self._at}/issues/{number}/comments"))
            own = {ACTIONS, self._user()}
            for each in found:
                if (each.get("user") or {}).get("id") in own:
                    yield Comment(each["id"], each["html_url"], each.get("body") or "")

    def _user(self) -> int:
        try:
            return int(record_of(self._request("GET", "/user"))["id"])
        except httpx.HTTPStatusError as error:
            if error.response.status_code == 401:
                raise
            return ACTIONS  # the token of a job, which has no user, or one without the scope `read:user`

    def rewrite(self, number: int, comment: int, words: str) -> None:
        """Replace the text of a comment on a pull request."""
        with asking(self.name, "change a comment"):
            self._request("PATCH", f"{self._at}/issues/comments/{comment}", {"body": words})

    def triggering_pull(self, environment: Mapping[str, str]) -> tuple[int, str] | None:
        """Return the number and the commit of the pull request in the event of a job."""
        try:
            event = json.loads(Path(environment.get("GITHUB_EVENT_PATH", "")).read_bytes())
            return event["pull_request"]["number"], event["pull_request"]["head"]["sha"]
        except (OSError, ValueError, KeyError, TypeError):
            raise UserError(
                "the event of this job does not belong to a pull request; give its number: --pull-request N"
            ) from None
