"""Repositories for jobs, and a Ray cluster of several nodes on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fleet_clusters import NodeCluster, running_cluster


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache folder of the nodes, with the folders of jobs below it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "devfix" / "fleet"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NodeCluster]:
    """A head without cores, to which tests add nodes."""
    with running_cluster(tmp_path_factory.mktemp("nodes")) as running:
        yield running


@pytest.fixture
def orphans() -> Iterator[Callable[[Path], list[str]]]:
    """Give what finds processes that work below a folder."""

    def find(folder: Path) -> list[str]:
        found = []
        for process in Path("/proc").iterdir():
            if process.name.isdigit():
                try:
                    if Path(os.readlink(process / "cwd")).is_relative_to(folder):
                        found.append((process / "cmdline").read_bytes().decode())
                except OSError:
                    continue
        return found

    yield find
