"""What the small forges of the tests share: git over smart HTTP, an API below a path, faults, and one repository."""

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
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlsplit

from api_description import Description
from git_repositories import git
from git_server import answer, read_body
from github_server import Fault
from hosted_pulls import HostedPulls

TOKEN, READER = "write-0123456789abcdef", "read-0123456789abcdef"
Data = dict[str, Any]


@dataclass
class Answer:
    """A response to a request of the API."""

    status: int
    data: Any
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class ForgeServer(HostedPulls):
    """The state of a forge with one repository; pull requests have the fields of GitHub's, for the tests."""

    root: Path
    description: Description
    port: int = 0
    path: str = "ada/model"
    pulls: list[Data] = field(default_factory=list)
    comments: list[Data] = field(default_factory=list)
    requests: list[tuple[str, str]] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    known_labels: set[str] | None = None  # the token may not create others
    collaborators: set[str] = field(default_factory=lambda: {"ada", "grace"})
    open_milestones: dict[str, int] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    api: ClassVar[str]
    variable: ClassVar[str]

    @property
    def server(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.server}/{self.path}"

    @property
    def url_with_token(self) -> str:
        return self.url.replace("://", f"://ada:{TOKEN}@")

    def add(self, branch: str, title: str, body: str, base: str = "main", fork: bool = False) -> Data:
        number = len(self.pulls) + 1
        pull: Data = {"number": number, "state": "open", "title": title, "body": body, "fork": fork}
        pull |= {"head": {"ref": branch}, "base": {"ref": base}, "closed_at": None, "merged_at": None}
        pull |= {"labels": [], "reviewers": [], "assignees": [], "milestone": None}
        self.pulls.append(pull)
        return pull

    def opened(self, branch: str, base: str) -> Data | None:
        """Return the open pull request from a branch to a base."""
        same = [each for each in self.pulls if (each["head"]["ref"], each["base"]["ref"]) == (branch, base)]
        return next((each for each in same if each["state"] == "open" and not each["fork"]), None)

    def answered(self, method: str, path: str, query: dict[str, str], data: Data) -> Answer:
        """Return the answer of the API to a request below its path."""
        raise NotImplementedError

    def token_of(self, headers: Any) -> str:
        """Return the token that a request of the API has."""
        return str(headers.get("Authorization", "")).partition(" ")[2]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each answer waits 40 ms for an acknowledgement
    forge: ForgeServer

    def do_GET(self) -> None:
        body = read_body(self)
        with self.forge.lock:
            self._answer(body)

    do_POST = do_PATCH = do_PUT = do_DELETE = do_GET

    def _answer(self, body: bytes) -> None:
        forge = self.forge
        forge.requests.append((self.command, self.path))
        fault = next((f for f in forge.faults if f.method == self.command and re.search(f.path, self.path)), None)
        if fault:
            forge.faults.remove(fault)
        if not self.path.startswith(forge.api + "/"):
            if fault:
                self._send(Answer(fault.status, {"message": fault.message}, fault.headers))
            else:
                answer(self, forge.root, {TOKEN: "write", READER: "read"}, body)
            return
        forge.violations += forge.description.violations(self.command, self.path, body)
        said = self._api(body) if not fault or fault.after else None
        if fault:
            said = Answer(fault.status, {"message": fault.message}, fault.headers)
        assert said is not None
        self._send(said)

    def _api(self, body: bytes) -> Answer:
        token = self.forge.token_of(self.headers)
        if token not in (TOKEN, READER):
            return Answer(401, {"message": "401 Unauthorized"})
        if token == READER and self.command != "GET":
            return Answer(403, {"message": "403 Forbidden"})
        parts = urlsplit(self.path)
        query = dict(parse_qsl(parts.query))
        data = json.loads(body) if body else {}
        return self.forge.answered(self.command, parts.path.removeprefix(self.forge.api), query, data)

    def _send(self, said: Answer) -> None:
        content = json.dumps(said.data).encode()
        self.send_response(said.status)
        headers = {"Content-Type": "application/json", "Content-Length": str(len(content)), **said.headers}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


@contextlib.contextmanager
def served(state: ForgeServer, files: Path) -> Iterator[None]:
    """Serve a forge with one repository, a bare clone of the repository at `files`."""
    state.bare.parent.mkdir(parents=True)
    git(files, "clone", "--quiet", "--bare", str(files), str(state.bare))
    subprocess.run(["git", "config", "http.receivepack", "true"], cwd=state.bare, check=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"forge": state}))
    state.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
