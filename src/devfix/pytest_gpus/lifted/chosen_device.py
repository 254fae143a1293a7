"""The `device` that a suite hands to its tests: where it chooses the CPU, a lifted run chooses the GPU."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.machinery import SourceFileLoader
from typing import Any

import pytest

from devfix.pytest_gpus.probe_bridge import probe

# Of a fixture, a parameter, an attribute of a class of tests, or a global of test code.
_NAME = re.compile(r"_*((torch|test|tests|default)_?)?device", re.IGNORECASE)
_OPTIONS = {"device", "dtype"}  # the keys of a dictionary that tests hand on to factories, whatever its name is


@dataclass(frozen=True)
class _Choice:
    """A device in the place of one that a suite has chosen, and how to choose it again."""

    put: Callable[[Any], None]
    choose: Callable[[], Any]
    chosen: Any


class ChosenDevice:
    """The hooks that replace it before a test sees it: its author runs the suite on a GPU in this way."""

    def __init__(self) -> None:
        self._loaders: dict[Any, Any] = {}
        self._choices: dict[tuple[int, str], _Choice] = {}  # by what has it, which is there as long as the suite

    @contextmanager
    def chosen_again(self) -> Iterator[None]:
        """Choose again what tests share, for as long as a test aims at another GPU."""
        choices = [*self._choices.values()]
        for each in choices:
            each.put(each.choose())
        try:
            yield
        finally:
            for each in choices:
                each.put(each.chosen)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Iterator[None]:
        """Replace the value of a fixture; pytest makes one of each parameter, too.

        In a case, a dictionary among the parameters, its `device` is replaced.

        Where another parameter is the GPU by its name alone, the test is known to work with that: `x.device.type` may
        be compared with it.
        """
        case = getattr(request, "param", None)
        chosen_case = _choose_in_case(case)
        if chosen_case is not case:
            request.param = chosen_case
        outcome: Any = yield
        if chosen_case is not case:  # pytest compares the parameter of the next test with it
            request.param = case
            if fixturedef.cached_result is not None:
                fixturedef.cached_result = (fixturedef.cached_result[0], case, *fixturedef.cached_result[2:])
        if outcome.excinfo is not None:
            return
        value = outcome.get_result()
        if _choose_device(fixturedef.argname, value) is value:
            return
        is_alone = _names_gpu_alone(_parameters(fixturedef, request))

        def choose() -> Any:
            chosen = _choose_device(fixturedef.argname, value)
            return _gpu_name(chosen) if is_alone else chosen

        chosen = choose()
        outcome.force_result(chosen)
        _put_result(fixturedef, chosen)
        if fixturedef.scope != "function":
            self._choices[id(fixturedef), ""] = _Choice(partial(_put_result, fixturedef), choose, chosen)

    def pytest_collection_modifyitems(self, items: Sequence[pytest.Item]) -> None:
        """Replace the attributes that classes of tests have, those that `setUp` gives their objects, and globals."""
        tests = {each for item in items if (each := getattr(item, "cls", None)) is not None}
        for cls in {each for test in tests for each in test.__mro__ if each is not object}:
            self._choose_attributes(cls)
        for cls in tests:
            if cls.__setattr__ is object.__setattr__:
                cls.__setattr__ = _set_chosen
        for module in list(sys.modules.values()):
            self._choose_globals(module)

    def begin(self, manager: Any) -> None:
        """Replace the globals of a module as it was loaded: others import them, `partial(zeros, device=DEVICE)`.

        Those of test code alone. pytest loads tests, and Python what they import.
        """
        loaders: tuple[Any, ...] = (SourceFileLoader, type(manager.rewrite_hook))
        for loader in loaders:
            if hasattr(loader, "exec_module"):  # with `--assert=plain` pytest has no loader of its own
                self._loaders[loader] = loader.exec_module
                loader.exec_module = self._choosing(loader.exec_module)

    def end(self) -> None:
        """Leave the modules alone that are loaded from now on."""
        for loader, original in self._loaders.items():
            loader.exec_module = original
        self._loaders.clear()

    def _choosing(self, original: Any) -> Any:
        def exec_module(loader: Any, module: Any) -> None:
            original(loader, module)
            self._choose_globals(module)

        return exec_module

    def _choose_globals(self, module: Any) -> None:
        """Replace the globals of a module of test code."""
        whose, path = probe("lift.whose"), getattr(module, "__file__", None)
        if whose is not None and isinstance(path, str) and whose.learn(path) == whose.Whose.TEST:
            self._choose_attributes(module)

    def _choose_attributes(self, owner: Any) -> None:
        """Replace the attributes of a class or module."""
        for name, value in list(vars(owner).items()):
            chosen = _choose_device(name, value)
            if chosen is not value:
                put, choose = partial(setattr, owner, name), partial(_choose_device, name, value)
                put(chosen)
                self._choices[id(owner), name] = _Choice(put, choose, chosen)

    def pytest_unconfigure(self) -> None:
        """End with the session."""
        self.end()


def _parameters(fixturedef: Any, request: Any) -> Iterator[Any]:
    """Yield the values that a suite lists for a fixture, or for a parameter of the test that asks for it."""
    yield from fixturedef.params or ()
    for mark in request.node.iter_markers("parametrize"):
        given = {**dict(zip(("argnames", "argvalues"), mark.args, strict=False)), **mark.kwargs}
        names, rows = given.get("argnames", ()), given.get("argvalues")
        names = [each.strip() for each in names.split(",")] if isinstance(names, str) else list(names)
        if fixturedef.argname in names and isinstance(rows, Sequence):
            at = names.index(fixturedef.argname)
            values = (getattr(row, "values", row) for row in rows)  # of pytest.param
            yield from (row[at] if isinstance(row, (tuple, list)) and at < len(row) else row for row in values)


def _names_gpu_alone(values: Iterable[Any]) -> bool:
    return any(isinstance(each, str) and each in ("cuda", "mps", "xpu") for each in values)


def _gpu_name(chosen: Any) -> Any:
    """Return the name of a GPU without its number, where that means the same one."""
    name, _, number = chosen.partition(":") if isinstance(chosen, str) else ("", "", "")
    return name if number == "0" else chosen


def _put_result(fixturedef: Any, value: Any) -> None:
    """Replace the value that a fixture has made, unless it has been torn down since."""
    if fixturedef.cached_result is not None:
        fixturedef.cached_result = (value, *fixturedef.cached_result[1:])


def _set_chosen(self: Any, name: str, value: Any) -> None:
    """Set an attribute of an object of a class of tests."""
    object.__setattr__(self, name, _choose_device(name, value))


def _choose_device(name: str, value: Any) -> Any:
    """Return what a lifted run chooses for what a suite has chosen; anything that is no choice as it is."""
    if isinstance(value, dict):
        return _choose_in_case(value) if _OPTIONS.issuperset(value) else value
    return on_gpu(value) if is_device(name) else value


def _choose_in_case(case: Any) -> Any:
    """Return what a lifted run chooses in a dictionary with a device, as that of a case that tests are given."""
    if type(case) is not dict or "device" not in case:
        return case
    chosen = on_gpu(case["device"])
    return case if chosen is case["device"] else {**case, "device": chosen}


def is_device(name: str) -> bool:
    """Return whether a fixture, a parameter or an attribute of a name is the device that a suite chooses."""
    return _NAME.fullmatch(name) is not None


def on_gpu(value: Any) -> Any:
    """Return the GPU of a lifted run for the CPU, in the form that it has; anything else as it is."""
    torch, state = sys.modules.get("torch"), probe("session.state_snapshot")
    if torch is None or state is None or not state.is_lifted():
        return value
    is_device = isinstance(value, torch.device) and value.type == "cpu"
    if not is_device and not (isinstance(value, str) and value == "cpu"):
        return value
    devices = probe("lift.devices")
    devices.note_choice()
    return devices.target() if is_device else str(devices.target())
