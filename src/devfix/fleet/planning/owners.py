"""List the repositories of an owner through the API of its forge, as `owner = "host/owner/*"` asks for."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from devfix.errors import UserError
from devfix.fleet.planning.fleet_file import Repository
from devfix.fleet.planning.owner import Listed, Owner, is_local, read_owner
from devfix.publish.forges.connection import token_for
from devfix.publish.forges.forge_kind import ForgeKind


def list_owner(
    entry: Repository, environment: Mapping[str, str], notify: Callable[[str], None]
) -> Iterator[Repository]:
    """Yield an entry for each repository that an entry with an owner selects, by name, at its default branch.

    Raises UserError if the forge refuses, or the entry selects none. `notify` is called before waiting for the forge.
    """
    owner = read_owner(entry)
    token = token_for(f"{owner.server}/{owner.name}/x", owner.kind, environment)
    if token and urlsplit(owner.api or owner.server).scheme == "http" and not is_local(owner.api or owner.server):
        raise UserError(f"{entry.where}: over http the token could be read on the way; use https")
    try:
        found = sorted(_clients()[owner.kind](owner, token, notify))
    except UserError as error:
        raise UserError(f"{entry.where}: {error}") from error
    selected = [each for each in found if each.branch and _is_selected(entry, each)]
    if not selected:
        raise UserError(f"{entry.where}: none of the {len(found)} repositories of {owner.name} is selected")
    for each in selected:
        if urlsplit(each.address).hostname != urlsplit(owner.server).hostname:
            raise UserError(f"{entry.where}: {each.name} is at another host than its forge: {each.address}")
        yield replace(entry, owner="", forge=owner.kind.name, address=each.address, ref=each.branch)


def _is_selected(entry: Repository, each: Listed) -> bool:
    if (each.is_archived and not entry.archived) or (each.is_fork and not entry.forks):
        return False
    if entry.include and not any(fnmatch.fnmatchcase(each.name, pattern) for pattern in entry.include):
        return False
    return not any(fnmatch.fnmatchcase(each.name, pattern) for pattern in entry.exclude)


def _clients() -> Mapping[ForgeKind, Callable[[Owner, str | None, Callable[[str], None]], Iterator[Listed]]]:
    # Each needs the client of its forge, which not everybody has installed.
    def github(owner: Owner, token: str | None, notify: Callable[[str], None]) -> Iterator[Listed]:
        from devfix.fleet.planning.github_owners import list_github

        return list_github(owner, token, notify)

    def gitlab(owner: Owner, token: str | None, notify: Callable[[str], None]) -> Iterator[Listed]:
        from devfix.fleet.planning.gitlab_owners import list_gitlab

        return list_gitlab(owner, token, notify)

    def forgejo(owner: Owner, token: str | None, notify: Callable[[str], None]) -> Iterator[Listed]:
        from devfix.fleet.planning.forgejo_owners import list_forgejo

        return list_forgejo(owner, token, notify)

    return {
        ForgeKind.github: github,
        ForgeKind.gitlab: gitlab,
        ForgeKind.forgejo: forgejo,
        ForgeKind.gitea: forgejo,
    }
