"""A Ray cluster that this process is connected to."""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import Any

import ray
from ray.exceptions import RayError

from devfix.errors import UserError
from devfix.fleet.cluster.tasks import on, sweep_node, version_on_node
from devfix.fleet.records import Job
from devfix.report.plain import one_line

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Ray would kill the supervisor of a job before that can end the job's processes, when it cancels a task.
_WORKERS = {"env_vars": {"RAY_kill_child_processes_on_worker_exit": "false"}}
_ANSWER = 120.0  # seconds for a node to answer
# The proxy of ray:// starts a process for each driver, on a port that it has found free. On a busy head node that
# process can lose its port to another one, or start too late (Ray's proxier.py); the next try gets another one.
_START_FAILED = "Initialization failure from server"
_STARTS = 4
_PAUSE = 2.0  # seconds before the next try


@dataclass(frozen=True)
class Cluster:
    """A cluster that this process is connected to; `is_own` if it was started for this run, on this machine alone."""

    is_own: bool
    dashboard: str

    @property
    def nodes(self) -> list[dict[str, Any]]:
        """The living nodes, as Ray describes them."""
        listed: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
        return [node for node in listed if node.get("Alive")]

    @property
    def cores(self) -> float:
        """The cores of all nodes."""
        return float(sum(node["Resources"].get("CPU", 0.0) for node in self.nodes))

    def check_versions(self, version: str) -> None:
        """Raise UserError if a node has another version of devfix than this process, or none."""
        asked = [
            (node, version_on_node.options(scheduling_strategy=on(node["NodeID"])).remote()) for node in self.nodes
        ]
        for node, reference in asked:
            name = node.get("NodeManagerHostname") or node.get("NodeManagerAddress")
            try:
                found = ray.get(reference, timeout=_ANSWER)
            except RayError as error:
                if node["NodeID"] not in {each["NodeID"] for each in self.nodes}:
                    continue  # it has died meanwhile, as nodes may
                why = one_line(str(error).strip().splitlines()[-1] if str(error).strip() else type(error).__name__, 200)
                advice = "install it there, with the same extra"
                raise UserError(f"the node {name} cannot run devfix ({why}); {advice}") from error
            if found != version:
                raise UserError(f"the node {name} has devfix {found}, and this is {version}; install the same one")

    def check_sizes(self, jobs: Sequence[Job]) -> None:
        """Raise UserError if no node has the cores and the memory for a job: it would wait forever."""
        nodes = [(n["Resources"].get("CPU", 0.0), n["Resources"].get("memory", 0.0) / 1e9) for n in self.nodes]
        for job in jobs:
            if not any(cores >= job.limits.cores and memory >= job.limits.memory for cores, memory in nodes):
                sizes = [f"{cores:g} cores and {memory:.1f} GB" for cores, memory in sorted(set(nodes))[-3:]]
                needs = f"{job.limits.cores:g} cores and {job.limits.memory:g} GB of memory"
                has = f"the nodes have {' or '.join(sizes)}"
                raise UserError(f"{job.repository}: its job needs {needs}, and {has}; ask for less")

    def sweep(self) -> None:
        """Remove the folders of killed jobs on every node that answers."""
        asked = [sweep_node.options(scheduling_strategy=on(node["NodeID"])).remote() for node in self.nodes]
        for reference in asked:
            try:
                ray.get(reference, timeout=_ANSWER)
            except RayError:  # it has died, and the next run there sweeps
                continue


@contextmanager
def cluster_connection(address: str, is_own: bool) -> Iterator[Cluster]:
    """Connect this process to the cluster at an address until the end of the block. Raises UserError if it cannot."""
    signals = _Signals()
    try:
        found = _init(address)
    except (ConnectionError, RayError, RuntimeError, ValueError, TimeoutError) as error:
        raise UserError(f"Ray at {address} does not answer: {one_line(str(error), 200)}") from error
    finally:
        signals.restore()
    try:
        # The client of ray:// has another one than a driver on a node of the cluster.
        dashboard = getattr(found, "dashboard_url", None) or ""
        yield Cluster(is_own, f"http://{dashboard}" if dashboard else "")
    except (KeyboardInterrupt, SystemExit):
        if signals.received is None:
            raise
        raise SystemExit(128 + signals.received) from None
    finally:
        ray.shutdown()
        signals.forget()


def _init(address: str) -> Any:
    """Connect to Ray and return its context, with further tries where the head node fails to start a process."""
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR, "configure_logging": False}
    for left in reversed(range(_STARTS)):
        try:
            return ray.init(address, runtime_env=_WORKERS, **quiet)
        except ConnectionError as error:
            if _START_FAILED not in str(error) or not left:
                raise
            ray.shutdown()
            time.sleep(_PAUSE)
    raise AssertionError("the last try returns or raises")


class _Signals:
    """This process's handlers of signals: those that Ray installs abort it, and nothing would be cancelled.

    Ray exits with 1 whichever signal comes, so that `received` has the number of the last one.
    """

    def __init__(self) -> None:
        is_main = threading.current_thread() is threading.main_thread()
        self._before = {number: signal.getsignal(number) for number in _SIGNALS if is_main}
        self.received: int | None = None

    def restore(self) -> None:
        """Install them again."""
        for number, handler in self._before.items():
            signal.signal(number, partial(self._receive, handler) if callable(handler) else handler)

    def forget(self) -> None:
        """Install them again, and receive no more."""
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _receive(self, handler: Callable[[int, FrameType | None], Any], number: int, frame: FrameType | None) -> None:
        self.received = number
        handler(number, frame)
