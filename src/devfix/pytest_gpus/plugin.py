"""The pytest plugin `pytest --gpus N`: somebody's test suite in a world with GPUs, real or simulated.

Every pytest in an environment with devfix loads this module: torch and the rest of devfix are imported where a world is
asked for, the rest of the hooks (tests.py) are registered there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from devfix.pytest_gpus import options
from devfix.pytest_gpus.project_root import project_root
from devfix.pytest_gpus.world import SuiteWorld, TooFew, Wanted

_NAME = "devfix-tests"
_LIFTED = "devfix-lifted-tests"
_CHOSEN = "devfix-chosen-device"
_REPORT = "devfix-session-report"
_GAVE_WAY = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the settings of a lifted run."""
    options.add_settings(parser)


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> Iterator[None]:
    """Enter the world before any conftest imports torch; then add the options whose names no conftest has taken."""
    wanted, rest = options.read(args, options.taken_names(parser))
    if wanted is not None:
        known: Any = early_config.known_args_namespace
        known.file_or_dir = parser.parse_known_args(rest).file_or_dir
    told = early_config.option  # a worker of xdist is given the options of its master, not the arguments
    wanted = wanted or options.parse_world(
        *(getattr(told, name, None) for name in ("devfix_gpus", "devfix_world", "devfix_lift"))
    )
    if wanted is not None:
        _begin(early_config, wanted)
    yield
    taken = options.taken_names(parser)
    if wanted is not None and options.read(args, taken)[0] is None and not hasattr(told, "devfix_gpus"):
        _withdraw(early_config)  # the suite's own conftest has an option of that name
        early_config.stash[_GAVE_WAY] = True
    options.add(parser, taken)


def pytest_configure(config: pytest.Config) -> None:
    """Tell pytest of the mark, and leave the names of our options to those who come later."""
    options.give_way(config)
    config.addinivalue_line(
        "markers", 'gpus(n, world="auto"): run the test in a world with n GPUs, simulated where the machine has fewer'
    )
    if options.report_path(config) is not None and not hasattr(config, "workerinput"):
        from devfix.pytest_gpus.session_report import SessionReport

        config.pluginmanager.register(SessionReport(config), _REPORT)


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say whose option was meant, where it is not ours."""
    if config.stash.get(_GAVE_WAY, False):
        return "devfix: this suite has options of its own by these names; --devfix-gpus N gives its tests N GPUs"
    return None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: Sequence[pytest.Item]) -> None:
    """Take part where a test asks for a world, also without `--gpus`."""
    if not config.pluginmanager.has_plugin(_NAME) and any(item.get_closest_marker("gpus") for item in items):
        _begin(config, None)


@pytest.fixture(scope="session")
def gpu_devices(pytestconfig: pytest.Config) -> Sequence[Any]:
    """The GPUs of the world, as torch.devices."""
    from devfix.pytest_gpus.devices import GpuDevices

    return GpuDevices(pytestconfig)


def _begin(config: pytest.Config, wanted: Wanted | None) -> None:
    from devfix.pytest_gpus.tests import Tests

    world = SuiteWorld(project_root(config))
    if wanted is not None:
        if wanted.lift:
            options.let_versions_warn(config)
            from devfix.pytest_gpus.lifted.test_code import test_code

            world.lift = test_code(config)
        try:
            world.begin(wanted)
        except TooFew as error:
            raise pytest.UsageError(f"{error}: --world simulated gives as many as you like") from None
    config.pluginmanager.register(Tests(world), _NAME)
    if wanted is not None and wanted.lift:
        from devfix.pytest_gpus.lifted.chosen_device import ChosenDevice
        from devfix.pytest_gpus.lifted.results import LiftedTests

        chosen = ChosenDevice()
        config.pluginmanager.register(LiftedTests(config, world, chosen.chosen_again), _LIFTED)
        chosen.begin(config.pluginmanager)
        config.pluginmanager.register(chosen, _CHOSEN)


def _withdraw(config: pytest.Config) -> None:
    tests: Any = config.pluginmanager.unregister(name=_NAME)
    if tests is not None:
        tests.world.end()
    config.pluginmanager.unregister(name=_LIFTED)
    chosen: Any = config.pluginmanager.unregister(name=_CHOSEN)
    if chosen is not None:
        chosen.end()
