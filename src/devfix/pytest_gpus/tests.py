"""The hooks around each test of a suite that asked for a world."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from devfix.pytest_gpus import diagnosis_section, options
from devfix.pytest_gpus.state_isolation import StateIsolation
from devfix.pytest_gpus.world import KINDS, SuiteWorld, TooFew, Wanted

if TYPE_CHECKING:
    from devfix.model import Failure
    from devfix.pytest_gpus.explained import FailureExplainer

# Attributes of pytest's reports, which xdist's workers send: the world of the test, and its device failure.
WORLD, FAILURE = "devfix_world", "devfix_failure"


class Tests:
    """The hooks that run for every test; registered only where somebody asks for a world."""

    __test__ = False

    def __init__(self, world: SuiteWorld) -> None:
        self.world = world
        self.isolation = StateIsolation(world)
        self._refused: BaseException | None = None
        self._traces: frozenset[str] = frozenset()
        self._trace: dict[str, Any] | None = None  # of the failure that pytest makes a report of
        self._explainer: FailureExplainer | None = None

    def pytest_report_header(self) -> str | None:
        """Say in which world the tests run."""
        session = self.world.session
        if session is None:
            return None
        count = f"{session.gpus or 'no'} {session.kind + ' ' if session.gpus else ''}GPU{'s'[session.gpus == 1 :]}"
        lifted = f"; what tests create is on {session.device}:{session.lifted_to}" if session.lift else ""
        device = "" if session.device == "cuda" or not session.gpus else f" ({session.device})"
        return f"devfix: a world with {count}{device}{lifted}"

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Give a test the world it asks for, and leave it as new."""
        self._refused = None
        entered = False
        try:
            entered = self.world.change(requested_world(item))
        except (pytest.UsageError, TooFew) as error:
            self._refused = error
        self.isolation.begin_test(entered)
        self._traces = self._written_fixtures()
        yield
        self.isolation.end_test()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Leave out a test whose GPUs are not there; fail one that asks for what cannot be."""
        if isinstance(self._refused, TooFew):
            pytest.skip(str(self._refused))
        if self._refused is not None:
            pytest.fail(str(self._refused), pytrace=False)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        """Distinguish what a fixture sets for several tests from what a test leaves behind."""
        if fixturedef.scope == "function":
            yield
            return
        with self.isolation.setting_up(fixturedef):
            yield

    def pytest_fixture_post_finalizer(self, fixturedef: Any) -> None:
        """End what a fixture has set."""
        self.isolation.torn_down(fixturedef)

    @pytest.hookimpl(specname="pytest_runtest_makereport")
    def pytest_take_trace(self, call: Any) -> None:
        """Keep the trace of what failed a test, and take the probe's own frames out of what pytest will show.

        A hook of pytest that comes before this one, but after wrappers, puts into `call` what a unittest has raised.
        """
        if call.excinfo is not None:
            self._trace = diagnosis_section.trace_of(call.excinfo.value)
            call.excinfo.traceback = type(call.excinfo.traceback)(call.excinfo.tb)  # a unittest's was read before

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: Any) -> Iterator[None]:
        """Put devfix's diagnosis into the report of a test that fails."""
        self._trace = None  # of an earlier report
        outcome: Any = yield
        report, trace = outcome.get_result(), self._trace
        wants_report = bool(options.report_path(item.config))
        now = self.world.now
        if wants_report:
            setattr(report, WORLD, None if now is None else now.data)
        if report.failed and call.excinfo is not None and now is not None and not self.world.is_judged:
            others = [self.world.traces / name for name in sorted(self._written_fixtures() - self._traces)]
            failure = diagnosis_section.device_failure(trace, others, self.world.root) if trace or others else None
            if failure is not None:
                lifting = options.lift_settings(item.config) if now.lift else []
                given = [*lifting, *options.doctest_options(item), *options.own_options(item.config)]
                folder = item.config.invocation_params.dir
                node = diagnosis_section.node_from(item.nodeid, item.config.rootpath, folder)
                command = diagnosis_section.repair_command(node, given, now)
                text = diagnosis_section.diagnosis(failure, self.world.root, folder)
                report.sections.append(("devfix", f"{text}\nTo repair it: {command}\n"))
                if wants_report:
                    setattr(report, FAILURE, self._explain(failure, now, command))

    def pytest_unconfigure(self) -> None:
        """Leave the world."""
        self.world.end()

    def _explain(self, failure: Failure, world: Wanted, command: str) -> str:
        """Return a failure for the session's report, as JSON: a worker of xdist may send it."""
        from devfix.model import DeviceType
        from devfix.pytest_gpus.explained import FailureExplainer

        failure = replace(failure, accelerator=DeviceType(world.device) if world.gpus else None)
        if self._explainer is None:
            self._explainer = FailureExplainer(self.world.root)
        return self._explainer.explain(failure, with_proposal=not world.lift, command=command)

    def _written_fixtures(self) -> frozenset[str]:
        folder = self.world.traces
        return frozenset(path.name for path in folder.glob("*.json")) if folder.name else frozenset()


def requested_world(item: pytest.Item) -> Wanted | None:
    """Return the world that the mark `gpus` of a test, its class or its module asks for; None where there is none."""
    mark = item.get_closest_marker("gpus")
    if mark is None:
        return None
    given = {**dict(zip(("count", "world"), mark.args, strict=False)), **mark.kwargs}
    count, kind = given.pop("count", 1), given.pop("world", "auto")
    whole = isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= 64
    if given or len(mark.args) > 2 or not whole or kind not in KINDS:
        raise pytest.UsageError(
            '@pytest.mark.gpus takes how many GPUs (0 to 64), and world="auto", "real", "simulated", "mps", "xpu"'
        )
    return Wanted(kind, count)
