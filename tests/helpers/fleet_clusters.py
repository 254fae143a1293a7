"""A Ray cluster of several nodes on one machine, and jobs for it."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from git_repositories import git, make_repository

from devfix import __version__
from devfix.fleet.planning.plan import key_of
from devfix.fleet.records import Job, JobLimits


@dataclass
class NodeCluster:
    """A cluster whose head runs no jobs; `cache` is what all nodes share.

    A driver on a node connects to `address`, one on any other machine to `remote`. Ray's logs are below `place`.
    """

    cluster: Any
    address: str
    remote: str
    cache: Path
    place: Path

    def add(self, cores: int = 1) -> Any:
        """Add a node, and wait until it is there."""
        node = self.cluster.add_node(num_cpus=cores, include_log_monitor=False, object_store_memory=80_000_000)
        self.cluster.wait_for_nodes()
        return node

    def kill(self, node: Any) -> None:
        """Kill the processes of a node, as a machine that loses its power."""
        self.cluster.remove_node(node, allow_graceful=False)

    @property
    def logs(self) -> list[Path]:
        """What Ray has written: the output of its processes, of workers and of drivers."""
        return sorted(path for path in self.place.rglob("logs/**/*") if path.is_file())

    @property
    def jobs(self) -> list[Path]:
        """The folders of jobs that are on the nodes."""
        return sorted((self.cache / "devfix" / "fleet" / "jobs").glob("*/"))


@contextmanager
def running_cluster(folder: Path) -> Iterator[NodeCluster]:
    """Start a cluster whose nodes have their caches below a folder, and end it."""
    cluster_utils = pytest.importorskip("ray.cluster_utils")
    place = tempfile.mkdtemp(prefix="ray")  # the path of a socket has 107 bytes at most
    variables = {
        "XDG_CACHE_HOME": str(folder),
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_worker_niceness": "0",
        "RAY_TMPDIR": place,
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        for name in ("GITHUB_TOKEN", "GH_TOKEN", "GITLAB_TOKEN"):
            patch.delenv(name, raising=False)
        port = free_port()
        head = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": 80_000_000}
        cluster = cluster_utils.Cluster(True, head_node_args={**head, "ray_client_server_port": port})
        try:
            yield NodeCluster(cluster, cluster.address, f"ray://127.0.0.1:{port}", folder, Path(place))
        finally:
            cluster.shutdown()
            shutil.rmtree(place, ignore_errors=True)


def free_port() -> int:
    """Return a port on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def program_job(folder: Path, program: str, **changes: Any) -> Job:
    """Return a job that runs a program in a new repository, with the interpreter of the tests."""
    if not folder.exists():
        make_repository(folder, {"main.py": program})
    job = Job("", folder.name, str(folder), "", git(folder, "rev-parse", "HEAD"), run="python main.py")
    limits = changes.pop("limits", JobLimits(memory=3.0, seconds=1800.0))
    job = replace(job, python=os.path.abspath(sys.executable), limits=limits, **changes)
    return replace(job, key=key_of(job, __version__))
