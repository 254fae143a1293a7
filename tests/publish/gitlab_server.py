"""A small GitLab: as much of its API as devfix uses, which executes the quick actions that it is sent."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from forge_server import Answer, Data, ForgeServer
from github_parts import now

_QUICK_ACTION = re.compile(r"^[ \t>]*/([a-z_]+)(?:[ \t]|$)", re.IGNORECASE | re.MULTILINE)


@dataclass
class GitLab(ForgeServer):
    """Its project is in a group of a group."""

    path: str = "ada/vision/model"
    executed: list[str] = field(default_factory=list)
    people: list[str] = field(default_factory=lambda: ["ada", "grace", "eve"])  # their ids are their places, from 1
    api = "/api/v4"
    variable = "GITLAB_TOKEN"

    def answered(self, method: str, path: str, query: dict[str, str], data: Data) -> Answer:
        if path == "/user":
            return Answer(200, {"id": 1, "username": "ada"})
        if path == "/users":
            known = self.people.index(query["username"]) + 1 if query["username"] in self.people else 0
            return Answer(200, [{"id": known, "username": query["username"]}] if known else [])
        project, _, rest = path.removeprefix("/projects/").partition("/")
        if unquote(project) != self.path:
            return Answer(404, {"message": "404 Project Not Found"})
        for verb, pattern, act in _ROUTES:
            if verb == method and (found := re.fullmatch(pattern, rest)):
                return act(self, query if method == "GET" else data, *map(int, found.groups()))
        return Answer(404, {"error": "404 Not Found"})

    def find(self, query: Data) -> Answer:
        states = {"opened": {"opened"}, "closed": {"closed"}, "merged": {"merged"}}.get(query.get("state", "all"))
        shown = [self.shown(pull) for pull in reversed(self.pulls)]
        found = [each for each in shown if states is None or each["state"] in states]
        found = [each for each in found if query.get("source_branch") in (None, each["source_branch"])]
        return Answer(200, _page(found, query))

    def shown(self, pull: Data) -> Data:
        branch = pull["head"]["ref"]
        is_draft = pull["title"].lower().startswith("draft:")
        state = "opened" if pull["state"] == "open" else "merged" if pull["merged_at"] else "closed"
        return {
            "id": 900 + pull["number"],
            "iid": pull["number"],
            "web_url": f"{self.url}/-/merge_requests/{pull['number']}",
            "title": pull["title"],
            "description": pull["body"],
            "state": state,
            "draft": is_draft,
            "source_branch": branch,
            "target_branch": pull["base"]["ref"],
            "source_project_id": 8 if pull["fork"] else 7,
            "target_project_id": 7,
            "sha": self.branches().get(branch, ""),
            "closed_at": None if state == "merged" else pull["closed_at"],
            "merged_at": pull["merged_at"],
            "labels": pull["labels"],
            "reviewers": [{"username": name} for name in pull["reviewers"]],
            "assignees": [{"username": name} for name in pull["assignees"]],
        }

    def open(self, data: Data) -> Answer:
        branch, base = data["source_branch"], data["target_branch"]
        if branch not in self.branches() or base not in self.branches():
            return Answer(422, {"message": {"source_branch": ["does not exist"]}})
        if other := self.opened(branch, base):
            said = f"Another open merge request already exists for this source branch: !{other['number']}"
            return Answer(409, {"message": [said]})
        pull = self.add(branch, data["title"], self.carry_out(data.get("description", "")), base)
        return Answer(201, self.shown(pull))

    def carry_out(self, text: str) -> str:
        """Execute the quick actions in a text, and return the rest; GitLab removes carriage returns before that."""
        text = text.replace("\r", "")
        self.executed += _QUICK_ACTION.findall(text)
        return text.rstrip()

    def change(self, data: Data, number: int) -> Answer:
        pull = self.pulls[number - 1]
        if data.get("state_event") == "close":
            pull.update(state="closed", closed_at=now())
        if data.get("state_event") == "reopen" and pull["head"]["ref"] in self.branches():
            pull.update(state="open", closed_at=None)
        if "title" in data:
            pull["title"] = data["title"]
        if "description" in data:
            pull["body"] = self.carry_out(data["description"])
        for name in data.get("add_labels", ()):
            if (self.known_labels is None or name in self.known_labels) and name not in pull["labels"]:
                pull["labels"].append(name)
        for field_, ids in (("reviewers", data.get("reviewer_ids")), ("assignees", data.get("assignee_ids"))):
            if ids is not None:  # who is no member is left out without a word
                pull[field_] = [name for name in (self.people[id_ - 1] for id_ in ids) if name in self.collaborators]
        if "milestone_id" in data:
            pull["milestone"] = data["milestone_id"]
        return Answer(200, self.shown(pull))

    def milestones(self, query: Data) -> Answer:
        found = [{"id": number, "title": title} for title, number in self.open_milestones.items()]
        return Answer(200, [each for each in found if each["title"] == query.get("title", each["title"])])

    def notes(self, query: Data, number: int) -> Answer:
        return Answer(200, _page([each for each in self.comments if each["number"] == number], query))

    def add_note(self, data: Data, number: int, author: int = 1) -> Answer:
        text = self.carry_out(data["body"])
        self.comments.append({"id": len(self.comments) + 1, "number": number, "body": text, "author": {"id": author}})
        return Answer(201, self.comments[-1])

    def change_note(self, data: Data, number: int, note: int) -> Answer:
        self.comments[note - 1]["body"] = self.carry_out(data["body"])
        return Answer(200, self.comments[note - 1])


_ROUTES: list[tuple[str, str, Callable[..., Answer]]] = [
    ("GET", r"merge_requests", GitLab.find),
    ("POST", r"merge_requests", GitLab.open),
    ("PUT", r"merge_requests/(\d+)", GitLab.change),
    ("GET", r"milestones", GitLab.milestones),
    ("GET", r"merge_requests/(\d+)/notes", GitLab.notes),
    ("POST", r"merge_requests/(\d+)/notes", GitLab.add_note),
    ("PUT", r"merge_requests/(\d+)/notes/(\d+)", GitLab.change_note),
]


def _page(rows: list[Data], query: dict[str, Any]) -> list[Data]:
    size, page = int(query.get("per_page", "20")), int(query.get("page", "1"))
    return rows[(page - 1) * size : page * size]
