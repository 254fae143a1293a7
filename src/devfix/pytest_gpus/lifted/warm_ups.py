"""`--lift-twice`: each test runs on another GPU first, so that a cache which does not ask for the device shows.

What comes of a warm-up is not reported, and what it has changed is put back as between two tests.
"""

from __future__ import annotations

import copy
import unittest
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from enum import Enum
from pathlib import PurePath
from typing import Any

from devfix.pytest_gpus.lifted.chosen_device import is_device
from devfix.pytest_gpus.probe_bridge import probe
from devfix.pytest_gpus.state_isolation import StateIsolation
from devfix.pytest_gpus.world import SuiteWorld

_UNITTEST = "_pytest.unittest"  # the module of pytest's fixture for a class of unittest
_XUNIT = "_pytest.python"  # of those for `setup_module` and `setup_class`
ChosenAgain = Callable[[], AbstractContextManager[None]]  # while it lasts, suites choose the GPU of a warm-up
_PLAIN = {name: getattr(unittest.TestCase, name).__func__ for name in ("setUpClass", "tearDownClass")}


class WarmUps:
    """Runs tests on the other GPU; `is_running` while one does."""

    def __init__(self, world: SuiteWorld, chosen_again: ChosenAgain) -> None:
        self._world, self._chosen_again = world, chosen_again
        self.is_running = False

    def run(self, item: Any) -> None:
        """Run a test once on the other GPU, where that is asked for and says something about it."""
        here = probe("session.state_snapshot")
        if here is None or not here.warms_up():
            return
        here.aim(is_warm_up=False)
        made_twice = [each for each in _shared_fixtures(item) if _may_be_made_twice(each)]
        first = None if _shares(item, made_twice) else _copy(item)
        if first is None:
            return
        isolation = StateIsolation(self._world)
        isolation.begin_test(False)
        self.is_running = True
        here.aim(is_warm_up=True)
        try:
            with self._chosen_again():
                item.config.pluginmanager.get_plugin("runner").runtestprotocol(first, log=False, nextitem=item)
        finally:
            for fixture in made_twice:
                with suppress(Exception):  # of what it does at its end
                    fixture.finish(item._request)
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


def _shared_fixtures(item: Any) -> list[Any]:
    known = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    return [each for defined in known.values() for each in defined if each.scope != "function" and each.baseid]


def _shares(item: Any, made_twice: Sequence[Any]) -> bool:
    """Return whether a test shares a fixture, which would stay on the first GPU, or asks for a world."""
    shared = (each for each in _shared_fixtures(item) if each not in made_twice)
    return item.get_closest_marker("gpus") is not None or any(not _lies_nowhere(each, item) for each in shared)


def _may_be_made_twice(fixture: Any) -> bool:
    """Return whether a shared fixture that no test has made yet may be made for a warm-up, and again after it.

    A device, one of numbers and names, and one that every test has, such as of a seed, take no time.
    """
    if getattr(fixture, "cached_result", None) is not None or fixture.func.__module__ in (_UNITTEST, _XUNIT):
        return False
    lists_plain = bool(fixture.params) and all(map(_is_plain, fixture.params))
    return lists_plain or is_device(fixture.argname) or bool(getattr(fixture, "_autouse", False))


def _lies_nowhere(fixture: Any, item: Any) -> bool:
    """Return whether a shared fixture has nothing on a GPU: one of numbers and names that an earlier test has made.

    What `setup_module` and the like make is in no value.
    """
    whose = getattr(fixture.func, "__module__", "")
    if whose == _UNITTEST:
        return not _prepares(item.cls)
    result = getattr(fixture, "cached_result", None)
    return whose != _XUNIT and result is not None and _is_plain(result[0])


def _is_plain(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(map(_is_plain, value.values()))
    is_name = (type(value).__module__, type(value).__name__) in (("torch", "dtype"), ("torch", "device"))
    return value is None or is_name or isinstance(value, (bool, int, float, complex, str, bytes, PurePath, Enum, type))


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
