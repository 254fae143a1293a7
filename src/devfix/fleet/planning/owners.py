"""List the repositories of an owner through the API of its forge, as `owner = "host/owner/*"` asks for."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import urlsplit

from devfix.errors import UserError
from devfix.fleet.planning.fleet_file import Repository
from devfix.publish.connection import token_for
from devfix.publish.forge_kind import ForgeKind

# Tokens are sent to these, and to hosts for which fleet.toml names the forge: to no host that only sounds like one.
_KNOWN = {"github.com": ForgeKind.github, "gitlab.com": ForgeKind.gitlab, "codeberg.org": ForgeKind.forgejo}
_OWNER = re.compile(r"(?:(https?)://)?([\w.:-]+)/([\w./-]+?)/\*")


class Owner(NamedTuple):
    """An owner on a forge: the address of the forge's server, that of its API ("" for the usual one), and the name."""

    kind: ForgeKind
    server: str
    api: str
    name: str


class Listed(NamedTuple):
    """A repository of an owner: its name without the owner, what git clones, and its default branch."""

    name: str
    address: str
    branch: str
    is_archived: bool
    is_fork: bool


def list_owner(
    entry: Repository, environment: Mapping[str, str], notify: Callable[[str], None]
) -> Iterator[Repository]:
    """Yield an entry for each repository that an entry with an owner selects, by name, at its default branch.

    Raises UserError if the forge refuses, or the entry selects none. `notify` is called before waiting for the forge.
    """
    owner = _owner(entry)
    token = token_for(f"{owner.server}/{owner.name}/x", owner.kind, environment)
    if token and urlsplit(owner.api or owner.server).scheme == "http" and not _is_local(owner.api or owner.server):
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


def token_of(entry: Repository, environment: Mapping[str, str]) -> str | None:
    """Return the token with which the refs of a repository may be read; None for a path, and over plain http."""
    if not entry.address.startswith("https://") and not _is_local(entry.address):
        return None
    kind = _kind(entry, entry.address)
    return token_for(entry.address, kind, environment) if kind else None


def _kind(entry: Repository, address: str) -> ForgeKind | None:
    return ForgeKind[entry.forge] if entry.forge else _KNOWN.get(urlsplit(address).hostname or "")


def _is_selected(entry: Repository, each: Listed) -> bool:
    if (each.is_archived and not entry.archived) or (each.is_fork and not entry.forks):
        return False
    if entry.include and not any(fnmatch.fnmatchcase(each.name, pattern) for pattern in entry.include):
        return False
    return not any(fnmatch.fnmatchcase(each.name, pattern) for pattern in entry.exclude)


def _owner(entry: Repository) -> Owner:
    found = _OWNER.fullmatch(entry.owner)
    if found is None:
        raise UserError(f"{entry.where}: key 'owner' must be like \"github.com/owner/*\", not {entry.owner!r}")
    server = f"{found[1] or 'https'}://{found[2]}"
    kind = _kind(entry, server)
    if kind is None:
        raise UserError(f'{entry.where}: say which forge {found[2]} is: forge = "gitlab" (or github, forgejo, gitea)')
    return Owner(kind, server, entry.api.rstrip("/"), found[3])


def _is_local(address: str) -> bool:
    return urlsplit(address).hostname in ("127.0.0.1", "localhost", "::1")


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
