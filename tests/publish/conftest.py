"""The real parts, each started once, and a report to publish."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from calling import Publish
from contract import Contract, served
from github_server import TOKEN, GitHub, github
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
    monkeypatch.setattr("devfix.publish.github.retry.FIRST", 0.05)
    monkeypatch.setattr("devfix.publish.github.retry.SECONDARY", 0.05)
    monkeypatch.setattr("devfix.workspace.git.network.WAITS", (0.05, 0.05))


@pytest.fixture
def publish(hub: GitHub, quick: None, capsys: pytest.CaptureFixture[str]) -> Publish:
    return Publish(hub, capsys)
