"""Connect to a Ray cluster, or to one that is started for this run alone."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from devfix.fleet.cluster.local_ray import local_ray
from devfix.process import child_environment

if TYPE_CHECKING:
    from devfix.fleet.cluster.connection import Cluster


@contextmanager
def connect(address: str, cores: float | None, say: Callable[[str], None]) -> Iterator[Cluster]:
    """Connect to the cluster at an address ("ray://head:10001", "10.0.0.1:6379"); "" starts Ray on this machine.

    Variables with credentials are removed from this process before, for good. Raises UserError if that fails.
    """
    forget_credentials()
    say(f"connecting to Ray at {address}" if address else "starting Ray on this machine")
    with nullcontext(address) if address else local_ray(cores) as where:
        # Ray reads its variables when it is imported, among them those of the cluster that was started.
        from devfix.fleet.cluster.connection import cluster_connection

        with cluster_connection(where, not address) as cluster:
            yield cluster


def forget_credentials() -> None:
    """Remove variables with credentials from this process, except those of Ray itself."""
    kept = child_environment()
    for name in [name for name in os.environ if name not in kept and not name.startswith("RAY_")]:
        del os.environ[name]
