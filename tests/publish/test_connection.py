"""Which forge an address is on, where its API is, and which token it is sent."""

from __future__ import annotations

import pytest

from devfix.errors import UserError
from devfix.publish.forges.connection import TOKENS, connect, detect, token_for
from devfix.publish.forges.forge_kind import ForgeKind
from devfix.publish.forges.forgejo.address import forgejo_address
from devfix.publish.forges.github.address import address
from devfix.publish.forges.gitlab.address import project_address

GITLAB_JOB = {"GITLAB_CI": "true", "CI_SERVER_URL": "https://code.example.org/forge"}
FORGEJO_JOB = {"FORGEJO_ACTIONS": "true", "GITHUB_ACTIONS": "true", "GITHUB_SERVER_URL": "https://code.example.org"}
GITEA_JOB = {**FORGEJO_JOB, "FORGEJO_ACTIONS": "", "GITEA_ACTIONS": "true"}


@pytest.mark.parametrize(
    ("url", "environment", "kind"),
    [
        ("https://github.com/ada/model", {}, "github"),
        ("git@github.com:ada/model.git", GITLAB_JOB, "github"),
        ("https://example.ghe.com/ada/model", {}, "github"),
        ("https://gitlab.com/ada/vision/model", {}, "gitlab"),
        ("ssh://git@gitlab.example.org:2222/ada/model.git", {}, "gitlab"),
        ("https://codeberg.org/ada/model", {}, "forgejo"),
        ("https://gitea.example.org/ada/model", {}, "gitea"),
        ("https://code.example.org/forge/ada/model", GITLAB_JOB, "gitlab"),
        ("https://code.example.org/ada/model", FORGEJO_JOB, "forgejo"),
        (
            "https://code.example.org/ada/model",
            {**FORGEJO_JOB, "FORGEJO_ACTIONS": "", "GITEA_ACTIONS": "true"},
            "gitea",
        ),
        ("https://elsewhere.example.org/ada/model", {**FORGEJO_JOB, **GITLAB_JOB}, "github"),
        ("https://mygitlabs.example.org/ada/model", {}, "github"),
    ],
)
def test_a_forge_is_known_by_its_host_or_by_the_job(url: str, environment: dict[str, str], kind: str) -> None:
    assert detect(url, environment).value == kind


def test_no_token_of_another_forge_is_sent() -> None:
    every = {"GITHUB_TOKEN": "hub", "GITLAB_TOKEN": "lab", "FORGEJO_TOKEN": "jo", "GITEA_TOKEN": "tea"}
    sent = {kind.value: token_for("https://example.org/a/b", kind, every) for kind in ForgeKind}
    assert sent == {"github": "hub", "gitlab": "lab", "forgejo": "jo", "gitea": "tea"}
    assert token_for("/some/folder", None, every) is None
    for kind in ForgeKind:
        others = {name: token for name, token in every.items() if token != sent[kind.value]}
        with pytest.raises(UserError, match="no token"):
            connect("https://example.org/a/b", kind, None, others, False, print)


@pytest.mark.parametrize("kind", ForgeKind)
def test_no_token_is_sent_without_encryption(kind: ForgeKind) -> None:
    tokens = {name: "secret" for names in TOKENS.values() for name in names}
    for url, api in (("http://example.org/a/b", None), ("https://example.org/a/b", "http://example.org/api")):
        with pytest.raises(UserError, match="use https") as raised:
            connect(url, kind, api, tokens, False, print)
        assert "secret" not in str(raised.value)
        assert connect(url, kind, api, {}, True, print).token is None


@pytest.mark.parametrize(
    ("url", "environment", "api", "found"),
    [
        ("https://gitlab.com/a/b/c.git", {}, None, ("https://gitlab.com", "a/b/c")),
        ("git@gitlab.com:a/b.git", {}, None, ("https://gitlab.com", "a/b")),
        ("ssh://git@git.example.org:2222/a/b.git", {}, None, ("https://git.example.org", "a/b")),
        ("http://127.0.0.1:8080/a/b", {}, None, ("http://127.0.0.1:8080", "a/b")),
        ("https://code.example.org/forge/a/b", GITLAB_JOB, None, ("https://code.example.org/forge", "a/b")),
        ("git@code.example.org:a/b.git", GITLAB_JOB, None, ("https://code.example.org/forge", "a/b")),
        ("https://x.org/a/b", {}, "https://api.x.org/api/v4", ("https://api.x.org", "a/b")),
    ],
)
def test_the_project_of_a_gitlab_address(
    url: str, environment: dict[str, str], api: str | None, found: tuple[str, str]
) -> None:
    where = project_address(url, environment, api)
    assert (where.server, where.path) == found


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("https://codeberg.org/a/b.git", "https://codeberg.org/api/v1 a b"),
        ("ssh://git@code.example.org:2222/a/b.git", "https://code.example.org/api/v1 a b"),
        ("https://example.org/git/a/b", "https://example.org/git/api/v1 a b"),
    ],
)
def test_the_repository_of_a_forgejo_address(url: str, found: str) -> None:
    where = forgejo_address(url, {})
    assert f"{where.api} {where.owner} {where.name}" == found


@pytest.mark.parametrize("url", ["https://host/only", "https://host/a/../b", "file:///a"])
def test_what_is_no_repository_is_refused(url: str) -> None:
    for parse in (address, project_address, forgejo_address):
        with pytest.raises(UserError, match="not the URL"):
            parse(url, {})
