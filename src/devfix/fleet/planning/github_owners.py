"""The repositories of an owner on GitHub, through githubkit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from githubkit.exception import RequestFailed

from devfix.fleet.planning.owner import Listed, Owner
from devfix.publish.forges.github.address import address
from devfix.publish.forges.github.answers import asking, list_of
from devfix.publish.forges.github.connection import PAGE, Connection
from devfix.publish.forges.github.retry import RetryPolicy


def list_github(owner: Owner, token: str | None, notify: Callable[[str], None]) -> Iterator[Listed]:
    """Yield the repositories of an organization, or of a user."""
    at = address(f"{owner.server}/{owner.name}/any", {}, owner.api or None)
    github = Connection(at, token, RetryPolicy(notify)).github  # `rest` holds it by a weak reference only
    rest = github.rest
    kinds: list[Callable[..., Any]] = [rest.repos.list_for_user, rest.repos.list_for_org]
    page, listing = 1, kinds.pop()
    while True:
        with asking(f"list the repositories of {owner.name}"):
            try:
                rows = list_of(listing(owner.name, per_page=PAGE, page=page))
            except RequestFailed as error:
                if error.response.status_code != 404 or not kinds:
                    raise
                listing = kinds.pop()
                continue
            for row in rows:
                branch = str(row.get("default_branch") or "") if row.get("size") != 0 else ""
                yield Listed(row["name"], row["clone_url"], branch, bool(row.get("archived")), bool(row.get("fork")))
        if len(rows) < PAGE:
            return
        page += 1
