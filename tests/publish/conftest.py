"""The real parts, each started once, and a report to publish."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import forge_server
import pytest
from api_description import Description, read_description
from calling import Publish
from contract import Contract, served
from forge_server import ForgeServer
from forgejo_server import Forgejo, Gitea
from github_server import TOKEN, GitHub, github
from gitlab_server import GitLab
from graphql_schema import GraphQLSchema, graphql_schema
from node_parts import node_modules
from programs import FILES, History


@pytest.fixture(scope="session")
def modules() -> Path:
    return node_modules()


@pytest.fixture(scope="session")
def contract(modules: Path) -> Iterator[Contract]:
    with served(modules) as running:
        yield running


@pytest.fixture(scope="session")
def schema(modules: Path) -> Iterator[GraphQLSchema]:
    with graphql_schema(modules) as running:
        yield running


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History.start(tmp_path / "work" / "model", FILES)


@pytest.fixture
def hub(tmp_path: Path, history: History, contract: Contract, schema: GraphQLSchema) -> Iterator[GitHub]:
    """A GitHub that holds every request against the real contract."""
    with github(tmp_path / "hub", history.folder, contract, schema) as running:
        yield running
        assert running.violations == []


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("devfix.publish.forges.github.retry.FIRST", 0.05)
    monkeypatch.setattr("devfix.publish.forges.github.retry.SECONDARY", 0.05)
    monkeypatch.setattr("devfix.publish.forges.patience.FIRST", 0.05)
    monkeypatch.setattr("devfix.workspace.git.network.WAITS", (0.05, 0.05))


@pytest.fixture
def publish(hub: GitHub, quick: None, capsys: pytest.CaptureFixture[str]) -> Publish:
    return Publish(hub, capsys)


@pytest.fixture(scope="session")
def descriptions() -> dict[str, Description]:
    return {}


def described(kind: str, descriptions: dict[str, Description]) -> Description:
    """Return the description of a forge's API, which is read once."""
    if kind not in descriptions:
        descriptions[kind] = read_description(kind)
    return descriptions[kind]


@pytest.fixture(
    params=["github", *(pytest.param(name, marks=pytest.mark.slow) for name in ("gitlab", "forgejo", "gitea"))]
)
def forge(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    history: History,
    descriptions: dict[str, Description],
    monkeypatch: pytest.MonkeyPatch,
    quick: None,
) -> Iterator[ForgeServer | GitHub]:
    """Each forge in turn; those beside GitHub hold every request against the description of their API."""
    root = tmp_path / "forge"
    if request.param == "github":
        with github(root, history.folder) as running:
            yield running
        return
    kind = {"gitlab": GitLab, "forgejo": Forgejo, "gitea": Gitea}[request.param]
    state = kind(root, described(request.param, descriptions))
    monkeypatch.delenv("GITHUB_TOKEN")
    monkeypatch.setenv(state.variable, forge_server.TOKEN)
    with forge_server.served(state, history.folder):
        yield state
        assert state.violations == []


@pytest.fixture
def kind(forge: ForgeServer | GitHub) -> str:
    """The name of the forge, as --forge has it."""
    return type(forge).__name__.lower()


@pytest.fixture
def variable(forge: ForgeServer | GitHub) -> str:
    """The variable with the token of the forge."""
    return "GITHUB_TOKEN" if isinstance(forge, GitHub) else forge.variable


@pytest.fixture
def there(forge: ForgeServer | GitHub, kind: str, capsys: pytest.CaptureFixture[str]) -> Publish:
    return Publish(forge, capsys, "--forge", kind)
