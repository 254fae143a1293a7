"""Options of a run, apart from what imports Ray: it reads how to authenticate when it is imported."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RunOptions:
    """Options of a run: `at_once` of them at most (None: as many as the cluster can run), and `retries` of each.

    A job is tried again if its node or its worker dies. `version` is that of devfix.
    """

    version: str
    at_once: int | None = None
    retries: int = 2
