"""Drivers of fleets in processes of their own, as users start them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import waiting
from fleet_clusters import NodeCluster

from devfix.fleet.records import JobRecord
from devfix.fleet.results import ResultStore
from devfix.process import why_no_sandbox

# What a fleet.toml needs for its jobs to run on this machine.
SANDBOX = "sandbox = false\n" if why_no_sandbox() else ""
TOKEN = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"


def driver(cluster: NodeCluster, file: Path, *options: str, address: str = "") -> subprocess.Popen[str]:
    """Start a driver with a token, which reads refs, in its environment."""
    where = address or cluster.address
    command = [sys.executable, "-m", "devfix", "fleet", "run", str(file), "--address", where, *options]
    variables = {**os.environ, "GITHUB_TOKEN": TOKEN, "XDG_CACHE_HOME": str(cluster.cache)}
    return subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def said(run: subprocess.Popen[str]) -> str:
    """Wait for the end of a driver, and return what it printed."""
    return run.communicate(timeout=waiting.HANGS)[0]


def records(folder: Path) -> dict[str, JobRecord]:
    """Return the records in the results folder of a fleet.toml, by the names of the repositories."""
    return {each.repository: each for each in ResultStore.open(folder / "fleet-results").records()}
