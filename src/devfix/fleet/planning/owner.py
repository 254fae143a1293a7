"""The owner that an entry of fleet.toml names, and the token with which its repositories are read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from devfix.errors import UserError
from devfix.fleet.planning.fleet_file import Repository
from devfix.publish.forges.connection import token_for
from devfix.publish.forges.forge_kind import ForgeKind

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


def read_owner(entry: Repository) -> Owner:
    """Return the owner that an entry names. Raises UserError for another form, or a host whose forge is unknown."""
    found = _OWNER.fullmatch(entry.owner)
    if found is None:
        raise UserError(f"{entry.where}: key 'owner' must be like \"github.com/owner/*\", not {entry.owner!r}")
    server = f"{found[1] or 'https'}://{found[2]}"
    kind = _kind(entry, server)
    if kind is None:
        raise UserError(f'{entry.where}: say which forge {found[2]} is: forge = "gitlab" (or github, forgejo, gitea)')
    return Owner(kind, server, entry.api.rstrip("/"), found[3])


def token_of(entry: Repository, environment: Mapping[str, str]) -> str | None:
    """Return the token with which the refs of a repository may be read; None for a path, and over plain http."""
    if not entry.address.startswith("https://") and not is_local(entry.address):
        return None
    kind = _kind(entry, entry.address)
    return token_for(entry.address, kind, environment) if kind else None


def _kind(entry: Repository, address: str) -> ForgeKind | None:
    return ForgeKind[entry.forge] if entry.forge else _KNOWN.get(urlsplit(address).hostname or "")


def is_local(address: str) -> bool:
    """Return whether an address is that of this machine."""
    return urlsplit(address).hostname in ("127.0.0.1", "localhost", "::1")
