"""The repositories of an owner, listed through the three APIs of forges by a server of the test's own."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from devfix.errors import UserError
from devfix.fleet.planning.fleet_file import read_fleet_file
from devfix.fleet.planning.owners import list_owner

SECRET = "secret-0123456789"
NAMES = ["vision", "old-vision", "empty", "archived", "fork", *(f"small-{number}" for number in range(60))]


class Forge:
    """A server that lists the repositories of the user "ada", who is no organization."""

    def __init__(self, port: int) -> None:
        self.address, self.requests, self.elsewhere = f"http://127.0.0.1:{port}", list[tuple[str, str]](), False

    def answer(self, path: str, query: dict[str, str]) -> Any:
        """Return the answer of GitHub, GitLab or Forgejo; None for what is not there."""
        if path in ("/github/users/ada/repos", "/api/v1/users/ada/repos"):
            return self._page([self._row(name) for name in NAMES], query)
        if path == "/api/v4/users":
            return [{"id": 7, "username": "ada"}]
        if path == "/api/v4/users/7/projects":
            return self._page([self._project(name) for name in NAMES], query)
        return None

    def _page(self, rows: list[Any], query: dict[str, str]) -> list[Any]:
        size, page = int(query.get("per_page") or query["limit"]), int(query.get("page", 1))
        return rows[(page - 1) * size : page * size]

    def _row(self, name: str) -> dict[str, Any]:
        host = "http://elsewhere.example.org" if self.elsewhere else self.address
        kinds = {"archived": name == "archived", "fork": name == "fork", "empty": name == "empty"}
        size = 0 if name == "empty" else 10
        return {"name": name, "clone_url": f"{host}/ada/{name}.git", "default_branch": "main", "size": size, **kinds}

    def _project(self, name: str) -> dict[str, Any]:
        project = {"id": 1, "path_with_namespace": f"ada/{name}", "http_url_to_repo": self._row(name)["clone_url"]}
        project |= {"default_branch": None if name == "empty" else "main", "archived": name == "archived"}
        return project | ({"forked_from_project": {"id": 2}} if name == "fork" else {})


@pytest.fixture
def forge() -> Iterator[Forge]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            sent = self.headers.get("Authorization") or self.headers.get("PRIVATE-TOKEN") or ""
            served.requests.append((parts.path, sent))
            found = served.answer(parts.path, {name: values[0] for name, values in parse_qs(parts.query).items()})
            data = json.dumps({"message": "404 Not Found"} if found is None else found).encode()
            self.send_response(404 if found is None else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Keep the output of the tests clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served = Forge(server.server_port)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield served
    server.shutdown()
    server.server_close()
    thread.join()


def listed(folder: Path, forge: Forge, kind: str, more: str = "") -> list[tuple[str, str, str]]:
    api = f'api = "{forge.address}/github"\n' if kind == "github" else ""
    text = f'[[repository]]\nowner = "{forge.address}/ada/*"\nforge = "{kind}"\n{api}{more}'
    (folder / "fleet.toml").write_text(text)
    (entry,) = read_fleet_file(folder / "fleet.toml").repositories
    found = list_owner(entry, {f"{kind.upper()}_TOKEN": SECRET}, lambda words: None)
    return [(each.address.rpartition("/")[2], each.ref, each.forge) for each in found]


@pytest.mark.parametrize("kind", ["github", "gitlab", "forgejo"])
def test_repositories_of_an_owner(tmp_path: Path, forge: Forge, kind: str) -> None:
    smaller = 'exclude = ["small-*", "old-*"]\n'
    assert listed(tmp_path, forge, kind, smaller) == [("vision.git", "main", kind)]
    assert forge.requests and all(SECRET in sent for _, sent in forge.requests)
    more = listed(tmp_path, forge, kind, smaller + "archived = true\nforks = true\n")
    assert [name for name, _, _ in more] == ["archived.git", "fork.git", "vision.git"]
    assert len(listed(tmp_path, forge, kind, 'include = ["small-*"]\n')) == 60
    with pytest.raises(UserError, match="none of the 65 repositories of ada is selected"):
        listed(tmp_path, forge, kind, 'include = ["nothing"]\n')


@pytest.mark.parametrize("kind", ["github", "gitlab", "forgejo"])
def test_a_forge_cannot_have_the_token_sent_elsewhere(tmp_path: Path, forge: Forge, kind: str) -> None:
    forge.elsewhere = True
    with pytest.raises(UserError, match="is at another host than its forge"):
        listed(tmp_path, forge, kind)


def test_an_unknown_host_needs_the_name_of_its_forge(tmp_path: Path) -> None:
    (tmp_path / "fleet.toml").write_text('[[repository]]\nowner = "git.example.org/ada/*"\n')
    (entry,) = read_fleet_file(tmp_path / "fleet.toml").repositories
    with pytest.raises(UserError, match=r"repository 1: say which forge git\.example\.org is"):
        list(list_owner(entry, {}, lambda words: None))
