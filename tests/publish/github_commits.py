"""The GraphQL half of the small GitHub: it creates commits in the bare repository, and signs them as GitHub does."""

from __future__ import annotations

import base64
import os
import subprocess
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from github_parts import BOT, NAME, OWNER

if TYPE_CHECKING:
    from github_server import GitHub

_SIGNATURE = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n wsFcBAABCAAQBQJlc3RGaWdodA==\n -----END PGP SIGNATURE-----\n"


def answer(hub: GitHub, data: Any) -> Any:
    """Answer a request: the user of the token, or a commit."""
    if hub.schema:
        hub.violations += hub.schema.violations(data)
    if "createCommitOnBranch" not in data["query"]:
        return {"data": {"viewer": {"login": hub.login}}}
    given = data["variables"]["input"]
    branch, expected = given["branch"]["branchName"], given["expectedHeadOid"]
    assert given["branch"]["repositoryNameWithOwner"] == f"{OWNER}/{NAME}"
    head = hub.branches().get(branch)
    if head is None:
        return _error("NOT_FOUND", f'Could not resolve to a Branch named "{branch}".')
    if head != expected:
        return _error("STALE_DATA", f'Expected branch to point to "{expected}" but it did not.')
    commit = _commit(hub, head, given["fileChanges"], given["message"])
    _git(hub.bare, "update-ref", f"refs/heads/{branch}", commit, head)
    return {"data": {"createCommitOnBranch": {"commit": {"oid": commit}}}}


def _error(kind: str, message: str) -> Any:
    return {"data": {"createCommitOnBranch": None}, "errors": [{"type": kind, "message": message}]}


def _commit(hub: GitHub, parent: str, changes: Any, message: Any) -> str:
    index = {"GIT_INDEX_FILE": str(hub.root / "index")}
    _git(hub.bare, "read-tree", parent, **index)
    for file in changes.get("additions", ()):
        blob = _git(hub.bare, "hash-object", "-w", "--stdin", given=base64.b64decode(file["contents"], validate=True))
        before = _git(hub.bare, "ls-tree", parent, "--", file["path"])
        mode = before.split(" ")[0] if before and hub.keeps_modes else "100644"
        _git(hub.bare, "update-index", "--add", "--cacheinfo", f"{mode},{blob},{file['path']}", **index)
    for file in changes.get("deletions", ()):
        _git(hub.bare, "update-index", "--force-remove", "--", file["path"], **index)
    text = message["headline"] + (f"\n\n{message['body']}" if message.get("body") else "")
    moment = f"{int(datetime.now(timezone.utc).timestamp())} +0000"
    raw = (
        f"tree {_git(hub.bare, 'write-tree', **index)}\nparent {parent}\n"
        f"author {BOT} <41898282+{BOT}@users.noreply.github.com> {moment}\n"
        f"committer GitHub <noreply@github.com> {moment}\n{_SIGNATURE}\n{text}{hub.appended}"
    )
    return _git(hub.bare, "hash-object", "-t", "commit", "-w", "--stdin", given=raw.encode())


def _git(folder: Path, *arguments: str, given: bytes | None = None, **environment: str) -> str:
    kept = {**os.environ, **environment}
    done = subprocess.run(["git", *arguments], cwd=folder, env=kept, input=given, capture_output=True, check=True)
    return done.stdout.decode().strip()
