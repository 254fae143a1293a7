"""Find out which forge a repository is on, and connect to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from devfix.errors import UserError
from devfix.publish.forges.forge import Forge
from devfix.publish.forges.forge_kind import ForgeKind
from devfix.publish.forges.repository_url import split_url
from devfix.workspace import Actor, person

# The variables with the token, in order. Never one of another forge: its token would be sent to a stranger.
TOKENS: Mapping[ForgeKind, tuple[str, ...]] = {
    ForgeKind.github: ("GITHUB_TOKEN", "GH_TOKEN"),
    ForgeKind.gitlab: ("GITLAB_TOKEN",),
    ForgeKind.forgejo: ("FORGEJO_TOKEN",),
    ForgeKind.gitea: ("GITEA_TOKEN",),
}
_RIGHTS = {
    ForgeKind.github: "`contents: write`",
    ForgeKind.gitlab: "the scopes `api` and `write_repository`",
    ForgeKind.forgejo: "the scope `write:repository`",
    ForgeKind.gitea: "the scope `write:repository`",
}
_NAMES = {ForgeKind.forgejo: "Forgejo", ForgeKind.gitea: "Gitea"}
_BOT = Actor("github-actions[bot]", "41898282+github-actions[bot]@users.noreply.github.com")


@dataclass(frozen=True)
class Connection:
    """A forge, the token for it, and what to do where git is denied access."""

    forge: Forge
    token: str | None
    advice: str


def connect(
    url: str,
    kind: ForgeKind | None,
    api: str | None,
    environment: Mapping[str, str],
    dry_run: bool,
    notify: Callable[[str], None],
) -> Connection:
    """Connect to the forge that a repository is on; only its client is imported. Raises UserError without a token."""
    kind = kind or detect(url, environment)
    token = _token(kind, environment)
    if not token and not dry_run:
        job = kind is ForgeKind.gitlab and environment.get("CI_JOB_TOKEN")
        why = "; CI_JOB_TOKEN may not open merge requests" if job else ""
        raise UserError(f"no token: set the environment variable {TOKENS[kind][0]}, or use --dry-run{why}")
    for address in filter(None, (url, api)):
        parts = urlsplit(address)
        if token and parts.scheme == "http" and parts.hostname not in ("127.0.0.1", "localhost", "::1"):
            raise UserError(f"{address}: over http the token could be read on the way; use https")
    forge = _forge(kind, url, api, environment, token, notify)
    advice = f"give a token with {_RIGHTS[kind]} in {TOKENS[kind][0]}"
    return Connection(forge, token, advice)


def detect(url: str, environment: Mapping[str, str]) -> ForgeKind:
    """Return the forge of a URL; GitHub if nothing says which it is."""
    return known_forge(url, environment) or ForgeKind.github


def known_forge(url: str, environment: Mapping[str, str]) -> ForgeKind | None:
    """Return the forge of a URL by its host, else by the server whose job this is; None if neither says it."""
    host = split_url(url).host
    known = _by_name(host)
    if known is not None:
        return known
    if urlsplit(environment.get("CI_SERVER_URL", "")).hostname == host and environment.get("GITLAB_CI"):
        return ForgeKind.gitlab
    # The jobs of Forgejo and Gitea have GitHub's variables too.
    if urlsplit(environment.get("GITHUB_SERVER_URL", "")).hostname == host:
        for kind in (ForgeKind.forgejo, ForgeKind.gitea):
            if environment.get(f"{kind.name.upper()}_ACTIONS"):
                return kind
        return ForgeKind.github
    return None


def _by_name(host: str) -> ForgeKind | None:
    if host == "github.com" or host.endswith((".github.com", ".ghe.com")):
        return ForgeKind.github
    if host == "codeberg.org":
        return ForgeKind.forgejo
    labels = re.split(r"[.-]", host)
    return next((kind for kind in ForgeKind if kind.name in labels), None)


def token_for(url: str, kind: ForgeKind | None, environment: Mapping[str, str]) -> str | None:
    """Return the token with which a repository may be read, if there is one."""
    return _token(kind or detect(url, environment), environment) if split_url(url).host else None


def author_for(url: str, kind: ForgeKind | None, environment: Mapping[str, str]) -> Actor:
    """Return who makes the commits: the author of the environment, the bot of a job, or the user of this machine."""
    name, email = environment.get("GIT_AUTHOR_NAME"), environment.get("GIT_AUTHOR_EMAIL")
    if name and email:
        return Actor(name, email)
    kind = kind or detect(url, environment)
    if kind is ForgeKind.github and environment.get("GITHUB_ACTIONS") == "true":
        return _BOT
    if kind is not ForgeKind.github and environment.get("CI"):
        return Actor("devfix", f"devfix@noreply.{split_url(url).host}")
    return person(Path.cwd())


def _token(kind: ForgeKind, environment: Mapping[str, str]) -> str | None:
    """Return the token, from the environment: arguments are visible to everybody on the machine."""
    name = next((name for name in TOKENS[kind] if environment.get(name)), TOKENS[kind][0])
    token = environment.get(name)
    if token and not token.isprintable():
        raise UserError(f"{name} contains a newline or a control character")
    return token or None


def _forge(
    kind: ForgeKind,
    url: str,
    api: str | None,
    environment: Mapping[str, str],
    token: str | None,
    notify: Callable[[str], None],
) -> Forge:
    if kind is ForgeKind.github:
        from devfix.publish.forges.github.address import address
        from devfix.publish.forges.github.client import GitHubClient

        return GitHubClient(address(url, environment, api), token, notify)
    if kind is ForgeKind.gitlab:
        from devfix.publish.forges.gitlab.address import project_address
        from devfix.publish.forges.gitlab.client import GitLabClient

        return GitLabClient(project_address(url, environment, api), token, notify)
    from devfix.publish.forges.forgejo.address import forgejo_address
    from devfix.publish.forges.forgejo.client import ForgejoClient

    return ForgejoClient(_NAMES[kind], forgejo_address(url, environment, api), token, notify)
