"""`--lift-twice`: each test runs on another GPU first, so that a cache which does not ask for the device shows.

What comes of a warm-up is not reported, and what it has changed is put back as between two tests.
"""

from __future__ import annotations

import copy
import unittest
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from devfix.pytest_gpus.probe_bridge import probe
from devfix.pytest_gpus.state_isolation import StateIsolation
from devfix.pytest_gpus.world import SuiteWorld

_UNITTEST = "_pytest.unittest"  # the module of pytest's fixture for a class of unittest
_PLAIN = {name: getattr(unittest.TestCase, name).__func__ for name in ("setUpClass", "tearDownClass")}


class WarmUps:
    """Runs tests on the other GPU; `is_running` while one does."""

    def __init__(self, world: SuiteWorld) -> None:
        self._world = world
        self.is_running = False

    def run(self, item: Any) -> None:
        """Run a test once on the other GPU, where that is asked for and says something about it."""
        here = probe("session.state_snapshot")
        if here is None or not here.warms_up():
            return
        here.aim(is_warm_up=False)
        first = None if _shares(item) else _copy(item)
        if first is None:
            return
        isolation = StateIsolation(self._world)
        isolation.begin_test(False)
        self.is_running = True
        here.aim(is_warm_up=True)
        try:
            item.config.pluginmanager.get_plugin("runner").runtestprotocol(first, log=False, nextitem=item)
        finally:
            self.is_running = False
            here.aim(is_warm_up=False)
            isolation.end_test()

    @contextmanager
    def call(self) -> Iterator[None]:
        """Run the function of a test: what it has the code under test make in a warm-up is known by it."""
        here = probe("session.state_snapshot")
        if here is None or not self.is_running:
            yield
            return
        with here.warm_up_call():
            yield


def _shares(item: Any) -> bool:
    """Return whether a test shares a fixture, which would stay on the first GPU, or asks for a world."""
    known = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    shared = (each for defined in known.values() for each in defined if each.scope != "function" and each.baseid)
    if any(getattr(each.func, "__module__", "") != _UNITTEST or _prepares(item.cls) for each in shared):
        return True
    return item.get_closest_marker("gpus") is not None


def _prepares(case: Any) -> bool:
    """Return whether the tests of a class share what it prepares; pytest has a fixture for what does nothing, too."""
    return any(getattr(getattr(case, name, None), "__func__", None) is not plain for name, plain in _PLAIN.items())


def _copy(item: Any) -> Any | None:
    """Return another item for the same test; None for a kind of item that is made otherwise."""
    first = copy.copy(item)
    if not hasattr(first, "_initrequest"):
        return None
    vars(first).pop("_instance", None)
    if (example := getattr(item, "dtest", None)) is not None:
        first.dtest = copy.copy(example)
        first.dtest.globs = dict(example.globs)
    else:
        vars(first).pop("_obj", None)
    first._initrequest()
    return first
