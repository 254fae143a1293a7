"""A small Forgejo or Gitea: as much of their API as devfix uses."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from forge_server import Answer, Data, ForgeServer
from github_parts import now

MOST = 50  # rows of a page, whatever is asked for


@dataclass
class Forgejo(ForgeServer):
    """It cannot search pull requests by branch, and gives labels by number alone."""

    created: list[str] = field(default_factory=list)  # labels: their ids are their places, from 1
    api = "/api/v1"
    variable = "FORGEJO_TOKEN"

    def answered(self, method: str, path: str, query: dict[str, str], data: Data) -> Answer:
        if path == "/user":
            return Answer(200, {"id": 1, "login": "ada"})
        rest = path.removeprefix(f"/repos/{self.path}/")
        for verb, pattern, act in _ROUTES:
            if verb == method and (found := re.fullmatch(pattern, rest)):
                return act(self, query if method == "GET" else data, *map(int, found.groups()))
        return Answer(404, {"message": "The target couldn't be found."})

    def find(self, query: Data) -> Answer:
        state = query.get("state", "open")
        found = [self.shown(pull) for pull in reversed(self.pulls) if state in ("all", pull["state"])]
        return _page(found, query)

    def shown(self, pull: Data) -> Data:
        number, branch = pull["number"], pull["head"]["ref"]
        ref = branch if branch in self.branches() else f"refs/pull/{number}/head"
        owner = "eve/model" if pull["fork"] else self.path
        return {
            "number": number,
            "html_url": f"{self.url}/pulls/{number}",
            "title": pull["title"],
            "body": pull["body"],
            "state": pull["state"],
            "merged": bool(pull["merged_at"]),
            "closed_at": pull["closed_at"],
            "merged_at": pull["merged_at"],
            "head": {"label": branch, "ref": ref, "sha": "", "repo": {"full_name": owner}},
            "base": {"label": pull["base"]["ref"], "ref": pull["base"]["ref"], "sha": ""},
            "assignees": [{"login": name} for name in pull["assignees"]] or None,
        }

    def open(self, data: Data) -> Answer:
        branch, base = data["head"], data["base"]
        if branch not in self.branches() or base not in self.branches():
            return Answer(404, {"message": "The target couldn't be found."})
        if self.opened(branch, base):
            return Answer(409, {"message": "pull request already exists for these targets"})
        return Answer(201, self.shown(self.add(branch, data["title"], data["body"], base)))

    def change(self, data: Data, number: int) -> Answer:
        pull = self.pulls[number - 1]
        if strangers := [name for name in data.get("assignees", ()) if name not in self.collaborators]:
            return Answer(422, {"message": f"Assignee does not exist: [name: {strangers[0]}]"})
        if data.get("state") == "open" and pull["head"]["ref"] not in self.branches():
            return Answer(412, {"message": "the head branch does not exist"})
        if "state" in data and data["state"] != pull["state"]:
            pull.update(state=data["state"], closed_at=now() if data["state"] == "closed" else None)
        pull.update({name: data[name] for name in ("title", "body", "assignees", "milestone") if name in data})
        return Answer(201, self.shown(pull))

    def request_reviews(self, data: Data, number: int) -> Answer:
        if strangers := [name for name in data["reviewers"] if name not in self.collaborators]:
            return Answer(422, {"message": f"Reviewer can't read [user: {strangers[0]}]"})
        self.pulls[number - 1]["reviewers"] = [*data["reviewers"], *data["team_reviewers"]]
        return Answer(201, [])

    def labels(self, query: Data) -> Answer:
        self.created += sorted((self.known_labels or set()) - set(self.created))
        return _page([{"id": place, "name": name} for place, name in enumerate(self.created, 1)], query)

    def create_label(self, data: Data) -> Answer:
        if self.known_labels is not None:
            return Answer(403, {"message": "token does not have at least one of required scope(s): [write:issue]"})
        self.created.append(data["name"])
        return Answer(201, {"id": len(self.created), "name": data["name"]})

    def add_labels(self, data: Data, number: int) -> Answer:
        labels = self.pulls[number - 1]["labels"]
        labels += [name for name in (self.created[id_ - 1] for id_ in data["labels"]) if name not in labels]
        return Answer(200, [])

    def milestones(self, query: Data) -> Answer:
        return _page([{"id": number, "title": title} for title, number in self.open_milestones.items()], query)

    def notes(self, query: Data, number: int) -> Answer:
        return Answer(200, [each for each in self.comments if each["number"] == number])

    def add_note(self, data: Data, number: int, author: int = 1) -> Answer:
        place = len(self.comments) + 1
        where = f"{self.url}/pulls/{number}#issuecomment-{place}"
        self.comments.append(
            {"id": place, "number": number, "body": data["body"], "html_url": where, "user": {"id": author}}
        )
        return Answer(201, self.comments[-1])

    def change_note(self, data: Data, note: int) -> Answer:
        self.comments[note - 1]["body"] = data["body"]
        return Answer(200, self.comments[note - 1])


@dataclass
class Gitea(Forgejo):
    """The same, with its own token."""

    variable = "GITEA_TOKEN"


_ROUTES: list[tuple[str, str, Callable[..., Answer]]] = [
    ("GET", r"pulls", Forgejo.find),
    ("POST", r"pulls", Forgejo.open),
    ("PATCH", r"pulls/(\d+)", Forgejo.change),
    ("POST", r"pulls/(\d+)/requested_reviewers", Forgejo.request_reviews),
    ("GET", r"labels", Forgejo.labels),
    ("POST", r"labels", Forgejo.create_label),
    ("POST", r"issues/(\d+)/labels", Forgejo.add_labels),
    ("GET", r"milestones", Forgejo.milestones),
    ("GET", r"issues/(\d+)/comments", Forgejo.notes),
    ("POST", r"issues/(\d+)/comments", Forgejo.add_note),
    ("PATCH", r"issues/comments/(\d+)", Forgejo.change_note),
]


def _page(rows: list[Data], query: Data) -> Answer:
    size, page = min(int(query.get("limit", "30")), MOST), int(query.get("page", "1"))
    return Answer(200, rows[(page - 1) * size : page * size], {"X-Total-Count": str(len(rows))})
