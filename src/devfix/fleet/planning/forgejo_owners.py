"""The repositories of an owner on Forgejo or Gitea."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from urllib.parse import quote

import httpx

from devfix.fleet.planning.owner import Listed, Owner
from devfix.publish.forges.forgejo.answers import Requests, asking, list_of
from devfix.publish.forges.patience import Patience

_PAGE = 50  # the most that a server returns as it is delivered


def list_forgejo(owner: Owner, token: str | None, notify: Callable[[str], None]) -> Iterator[Listed]:
    """Yield the repositories of an organization, or of a user."""
    forge = owner.kind.name.capitalize()
    request = Requests(owner.api or f"{owner.server}/api/v1", token, Patience(forge, notify))
    name, page, kind = quote(owner.name, safe=""), 1, "orgs"
    while True:
        with asking(forge, f"list the repositories of {owner.name}"):
            try:
                rows = list_of(request("GET", f"/{kind}/{name}/repos", page=page, limit=_PAGE))
            except httpx.HTTPStatusError as error:
                if error.response.status_code != 404 or kind == "users":
                    raise
                kind = "users"
                continue
            for row in rows:
                branch = "" if row.get("empty") else str(row.get("default_branch") or "")
                yield Listed(row["name"], row["clone_url"], branch, bool(row.get("archived")), bool(row.get("fork")))
        if not rows:
            return
        page += 1
