"""The tasks that Ray runs on the nodes."""

from __future__ import annotations

import socket
from typing import Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

import devfix
from devfix.fleet.jobs import NodeFolders, run_job
from devfix.fleet.records import Job, JobResult


# A job that is lost is begun again by the driver, which counts: Ray does not tell a task how often it was begun.
@ray.remote(max_retries=0)
def run_on_node(job: Job, version: str, attempts: int) -> JobResult:
    """Run a job on this node; `version` is that of devfix on the driver."""
    if devfix.__version__ != version:  # a node that came later
        raise RuntimeError(f"the node has devfix {devfix.__version__}, and the driver {version}")
    return run_job(job, NodeFolders.of_user(), node_name(), version, attempts)


@ray.remote(max_retries=0, num_cpus=0)
def version_on_node() -> str:
    """Return the version of devfix on this node."""
    return str(devfix.__version__)


@ray.remote(max_retries=0, num_cpus=0)
def sweep_node() -> int:
    """Remove the folders of killed jobs on this node."""
    return NodeFolders.of_user().sweep()


def on(node: str) -> Any:
    """Return the scheduling of a task on one node, by its id."""
    return NodeAffinitySchedulingStrategy(node, soft=False)


def node_name() -> str:
    """Return the name of the node on which this runs: its host, and the start of Ray's id."""
    return f"{socket.gethostname()}/{ray.get_runtime_context().get_node_id()[:8]}"
