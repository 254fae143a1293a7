"""The `device` that a suite hands to its tests: where it chooses the CPU, a lifted run chooses the GPU."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from devfix.pytest_gpus.probe_bridge import probe

NAME = "device"  # of a fixture, a parameter, or an attribute of a class of tests


class ChosenDevice:
    """The hooks that replace it before a test sees it: its author runs the suite on a GPU in this way."""

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        """Replace the value of a fixture; pytest makes one of each parameter, too."""
        outcome: Any = yield
        if fixturedef.argname != NAME or outcome.excinfo is not None:
            return
        value = outcome.get_result()
        chosen = on_gpu(value)
        if chosen is not value:
            outcome.force_result(chosen)
            fixturedef.cached_result = (chosen, *fixturedef.cached_result[1:])

    def pytest_collection_modifyitems(self, items: Sequence[pytest.Item]) -> None:
        """Replace an attribute that classes of tests have."""
        for cls in {each for item in items for each in getattr(getattr(item, "cls", None), "__mro__", ())}:
            value = vars(cls).get(NAME)
            chosen = on_gpu(value)
            if chosen is not value:
                setattr(cls, NAME, chosen)


def on_gpu(value: Any) -> Any:
    """Return the GPU of a lifted run for the CPU, in the form that it has; anything else as it is."""
    torch, state = sys.modules.get("torch"), probe("session.state_snapshot")
    if torch is None or state is None or not state.is_lifted():
        return value
    if isinstance(value, torch.device) and value.type == "cpu":
        return probe("lift.devices").target()
    return str(probe("lift.devices").target()) if isinstance(value, str) and value == "cpu" else value
