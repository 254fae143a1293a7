"""A small GitHub: git over smart HTTP, and as much of the interface as devfix uses, with refusals and faults."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import github_commits
import github_reviews
from contract import Contract
from git_repositories import git
from git_server import answer, read_body
from github_parts import BOT, NAME, OWNER, READER, TOKEN, Answer, Fault, now, page_of, user
from graphql_schema import GraphQLSchema
from hosted_pulls import HostedPulls

__all__ = ["READER", "TOKEN", "Fault", "GitHub", "github"]


@dataclass
class GitHub(HostedPulls):
    """The state: pull requests, labels and comments here, branches in a bare repository."""

    root: Path
    contract: Contract | None = None
    schema: GraphQLSchema | None = None
    port: int = 0
    pulls: list[dict[str, Any]] = field(default_factory=list)
    comments: list[dict[str, Any]] = field(default_factory=list)
    requests: list[tuple[str, str]] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    drafts: bool = True
    known_labels: set[str] | None = None  # the token may not create others
    collaborators: set[str] = field(default_factory=lambda: {"ada", "grace"})
    open_milestones: dict[str, int] = field(default_factory=dict)  # their numbers by title
    login: str = BOT
    reviews: list[dict[str, Any]] = field(default_factory=list)
    review_comments: list[dict[str, Any]] = field(default_factory=list)
    issues: list[dict[str, Any]] = field(default_factory=list)
    reactions: list[tuple[int, str]] = field(default_factory=list)
    permissions: dict[str, str] = field(default_factory=dict)
    keeps_modes: bool = True  # of files that a commit of the API changes
    appended: str = ""  # to the messages of such commits
    lock: threading.Lock = field(default_factory=threading.Lock)
    path: str = f"{OWNER}/{NAME}"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/{OWNER}/{NAME}"

    @property
    def url_with_token(self) -> str:
        return f"http://ada:{TOKEN}@127.0.0.1:{self.port}/{OWNER}/{NAME}"

    def handle(self, method: str, path: str, query: dict[str, list[str]], data: Any) -> Answer:
        rest = path.removeprefix(f"/repos/{OWNER}/{NAME}")
        for pattern, action in _ROUTES[method]:
            if found := re.fullmatch(pattern, rest):
                given = [int(each) if each.isdecimal() else each for each in found.groups()]
                return action(self, query if method == "GET" else data, *given)
        return 404, {"message": "Not Found"}

    def find_pulls(self, query: dict[str, list[str]]) -> Answer:
        owner, _, branch = query.get("head", [""])[0].partition(":")
        state, base = query.get("state", ["open"])[0], query.get("base", [""])[0]
        found = [
            self.shown(pull)
            for pull in reversed(self.pulls)
            if branch in ("", pull["head"]["ref"])
            and owner in ("", pull["head"]["user"])
            and base in ("", pull["base"]["ref"])
            and state in ("all", pull["state"])
        ]
        return 200, page_of(found, query)

    def open_pull(self, data: Any) -> Answer:
        branch = data["head"]
        if branch not in self.branches() or data["base"] not in self.branches():
            return 422, {"message": "Validation Failed", "errors": [{"field": "head", "code": "invalid"}]}
        same = [pull for pull in self.pulls if (pull["head"]["ref"], pull["base"]["ref"]) == (branch, data["base"])]
        if any(pull["state"] == "open" for pull in same):
            errors = [{"message": f"A pull request already exists for {OWNER}:{branch}."}]
            return 422, {"message": "Validation Failed", "errors": errors}
        if data.get("draft") and not self.drafts:
            return 422, {"message": "Draft pull requests are not supported in this repository."}
        pull = self.add(branch, data["title"], data["body"], data["base"], bool(data.get("draft")))
        return 201, self.shown(pull)

    def add(
        self, branch: str, title: str, body: str, base: str = "main", draft: bool = False, **head: str
    ) -> dict[str, Any]:
        number = len(self.pulls) + 1
        where = {"ref": branch, "user": OWNER, "repo": {"full_name": f"{OWNER}/{NAME}"}, "sha": "", **head}
        pull = {
            "number": number,
            "html_url": f"{self.url}/pull/{number}",
            "state": "open",
            "title": title,
            "body": body.replace("\n", "\r\n"),  # as GitHub keeps what was edited in a browser
            "head": where,
            "base": {"ref": base},
            "draft": draft,
            "closed_at": None,
            "merged_at": None,
            "labels": [],
            "reviewers": [],
            "assignees": [],
            "milestone": None,
        }
        self.pulls.append(pull)
        return pull

    def shown(self, pull: dict[str, Any]) -> dict[str, Any]:
        if pull["state"] == "open" and pull["head"]["user"] == OWNER:
            pull["head"]["sha"] = self.branches().get(pull["head"]["ref"], "")
        return pull

    def change_pull(self, data: Any, number: int) -> Answer:
        pull = self.pulls[number - 1]
        branch = pull["head"]["ref"]
        if data.get("state") == "open" and pull["state"] == "closed":
            if self.branches().get(branch) != pull["head"]["sha"]:
                return 422, {"message": "Validation Failed", "errors": [{"message": "state cannot be changed."}]}
            pull.update(closed_at=None)
        elif data.get("state") == "closed" and pull["state"] == "open":
            self.shown(pull)
            pull.update(closed_at=now())
        pull.update({key: data[key] for key in ("title", "body", "state") if key in data})
        return 200, self.shown(pull)

    def add_labels(self, data: Any, number: int) -> Answer:
        if self.known_labels is not None and not set(data["labels"]) <= self.known_labels:
            return 403, {"message": "Resource not accessible by integration"}
        labels = self.pulls[number - 1]["labels"]
        labels += [name for name in data["labels"] if name not in labels]
        return 200, [{"name": name} for name in labels]

    def request_reviews(self, data: Any, number: int) -> Answer:
        if not set(data["reviewers"]) <= self.collaborators:
            return 422, {"message": "Reviews may only be requested from collaborators."}
        self.pulls[number - 1]["reviewers"] += data["reviewers"] + data["team_reviewers"]
        return 201, self.shown(self.pulls[number - 1])

    def add_assignees(self, data: Any, number: int) -> Answer:
        assignees = self.pulls[number - 1]["assignees"]
        assignees += [name for name in data["assignees"] if name in self.collaborators]
        return 201, {"number": number, "assignees": [{"login": name} for name in assignees]}

    def find_milestones(self, query: dict[str, list[str]]) -> Answer:
        return 200, page_of([{"number": n, "title": title} for title, n in self.open_milestones.items()], query)

    def find_comments(self, query: dict[str, list[str]], number: int) -> Answer:
        return 200, page_of([comment for comment in self.comments if comment["issue"] == number], query)

    def add_comment(self, data: Any, number: int, kind: str = "Bot") -> Answer:
        where = f"{self.url}/pull/{number}#issuecomment-{len(self.comments) + 1}"
        comment = {"id": len(self.comments) + 1, "issue": number, "body": data["body"], "html_url": where}
        self.comments.append({**comment, "user": user(self.login) | {"type": kind}, "author_association": "NONE"})
        return 201, self.comments[-1]

    def change_comment(self, data: Any, identifier: int) -> Answer:
        self.comments[identifier - 1]["body"] = data["body"]
        return 200, self.comments[identifier - 1]


_ROUTES: dict[str, list[tuple[str, Any]]] = {
    "GET": [
        (r"/pulls", GitHub.find_pulls),
        (r"/issues/(\d+)/comments", GitHub.find_comments),
        (r"/milestones", GitHub.find_milestones),
        *github_reviews.GET,
    ],
    "POST": [
        (r"/pulls", GitHub.open_pull),
        (r"/pulls/(\d+)/requested_reviewers", GitHub.request_reviews),
        (r"/issues/(\d+)/labels", GitHub.add_labels),
        (r"/issues/(\d+)/assignees", GitHub.add_assignees),
        (r"/issues/(\d+)/comments", GitHub.add_comment),
        *github_reviews.POST,
    ],
    "PUT": [*github_reviews.PUT],
    "PATCH": [
        (r"/pulls/(\d+)", GitHub.change_pull),
        (r"/issues/comments/(\d+)", GitHub.change_comment),
        *github_reviews.PATCH,
    ],
}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each answer waits 40 ms for an acknowledgement
    github: GitHub

    def do_GET(self) -> None:
        self._do()

    do_POST = do_PATCH = do_PUT = do_DELETE = do_GET

    def _do(self) -> None:
        body = read_body(self)
        with self.github.lock:
            self._answer(body)

    def _answer(self, body: bytes) -> None:
        self.github.requests.append((self.command, self.path))
        fits = (each for each in self.github.faults if each.method == self.command and re.search(each.path, self.path))
        fault = next(fits, None)
        if fault:
            self.github.faults.remove(fault)
        if not self.path.startswith("/api/"):
            if fault:
                self._send(fault.status, {"message": "a fault"}, fault.headers)
            else:
                answer(self, self.github.root, {TOKEN: "write", READER: "read"}, body)
            return
        path = self.path.removeprefix("/api/v3")
        if self.github.contract and path != "/api/graphql":
            self.github.violations += self.github.contract.violations(self.command, path, dict(self.headers), body)
        status, data = self._api(path, body) if not fault or fault.after else (0, None)
        if fault:
            status, data = fault.status, {"message": fault.message}
        self._send(status, data, fault.headers if fault else {})

    def _api(self, path: str, body: bytes) -> Answer:
        token = self.headers.get("Authorization", "").split(" ")[-1]
        if token not in (TOKEN, READER):
            return 401, {"message": "Bad credentials"}
        if token == READER and self.command != "GET":
            return 403, {"message": "Resource not accessible by integration"}
        if path == "/api/graphql":
            return 200, github_commits.answer(self.github, json.loads(body))
        parts = urlsplit(path)
        return self.github.handle(self.command, parts.path, parse_qs(parts.query), json.loads(body) if body else {})

    def _send(self, status: int, data: Any, headers: dict[str, str]) -> None:
        content = json.dumps(data).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


@contextlib.contextmanager
def github(
    root: Path, files: Path, contract: Contract | None = None, schema: GraphQLSchema | None = None
) -> Iterator[GitHub]:
    """Serve a GitHub with one repository, a bare clone of the repository at `files`."""
    state = GitHub(root, contract, schema)
    state.bare.parent.mkdir(parents=True)
    git(files, "clone", "--quiet", "--bare", str(files), str(state.bare))
    subprocess.run(["git", "config", "http.receivepack", "true"], cwd=state.bare, check=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"github": state}))
    state.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
