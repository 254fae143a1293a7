"""The outcome of each test of a lifted run: passed, finding, artefact of the lift, or a failure for its own reasons."""

from __future__ import annotations

import json
import os
import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from devfix.pytest_gpus.lifted import doctests
from devfix.pytest_gpus.lifted.order import RunOrder, TestTimeout, limit_time, read_order
from devfix.pytest_gpus.lifted.scripts import ScriptFile
from devfix.pytest_gpus.lifted.warm_ups import ChosenAgain, WarmUps
from devfix.pytest_gpus.probe_bridge import probe
from devfix.pytest_gpus.world import SuiteWorld

PROPERTY = "devfix_lift"
SILENT = "devfix_lift_silent"
UNTOLD = "devfix_lift_untold"
HANDLED = "handled"  # the folder of the failures that were caught
_GPU = re.compile(r"cuda|\b(mps|xpu)\b")


class LiftedTests:
    """The hooks of a lifted run. Results travel from xdist's workers as properties of the reports."""

    def __init__(self, config: pytest.Config, world: SuiteWorld, chosen_again: ChosenAgain) -> None:
        self.world = world
        self._config = config
        self._counts: Counter[str] = Counter()
        self._places: dict[str, str] = {}
        self._order = RunOrder()
        self._warm_ups = WarmUps(world, chosen_again)
        self._of_subtests: list[BaseException] = []  # unittest catches them, and fails the test nevertheless

    @property
    def _folder(self) -> Path | None:
        name = self._config.getoption("devfix_lift_record", None)
        return Path(name) if name else None

    def pytest_configure(self) -> None:
        """Read what the run is asked for."""
        self._order = read_order(self._folder)
        self._config.add_cleanup(doctests.install(self._config.option.devfix_lift_any_output))

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makemodule(self, module_path: Path, parent: Any) -> pytest.Collector | None:
        """Collect a file that is named on the command line as a script, where that is asked for."""
        if not self._config.getoption("devfix_lift_scripts") or not parent.session.isinitpath(module_path):
            return None
        collector: pytest.Collector = ScriptFile.from_parent(parent, path=module_path)
        return collector

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave out the tests that are not asked for."""
        left = [item for item in items if not self._order.takes(item.nodeid)]
        if left:
            config.hook.pytest_deselected(items=left)
            items[:] = [item for item in items if self._order.takes(item.nodeid)]

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Report which test begins (one that ends the process is known by it), and warm up."""
        if not hasattr(self._config, "workerinput"):
            self._write({"begins": item.nodeid})
        self._warm_ups.run(item)
        self._of_subtests.clear()
        here = probe("session.state_snapshot")
        with nullcontext() if here is None else here.heard_calls():
            yield

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """End a test that runs for too long."""
        outcome: Any = None
        try:
            with limit_time(self._order.timeout), self._warm_ups.call():
                outcome = yield
        except TestTimeout:
            pass  # it came between the test's end and ours
        if outcome is not None and isinstance(outcome.excinfo and outcome.excinfo[1], TestTimeout):
            outcome.force_exception(pytest.fail.Exception(str(outcome.excinfo[1]), pytrace=False))
        if outcome is not None and not self._warm_ups.is_running:
            self._look_at_handled(item, outcome)

    def _look_at_handled(self, item: pytest.Item, outcome: Any) -> None:
        """Record the device failures that were caught in a test; one of a place where they count fails it."""
        here = probe("session.state_snapshot")
        if here is None or not here.is_lifted():
            return
        failed_by = [*self._of_subtests, *([outcome.excinfo[1]] if outcome.excinfo else [])]
        for error, trace in here.handled_failures(failed_by):
            if here.fails_by(trace) and outcome.excinfo is None:
                outcome.force_exception(error)
            elif (folder := self._folder) is not None:
                (folder / HANDLED).mkdir(exist_ok=True)
                _write_trace(folder / HANDLED, trace, item)

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: Any) -> Iterator[None]:
        """Say of a failure whether the code under test or the lift is to blame."""
        outcome: Any = yield
        if self._warm_ups.is_running:
            return
        if call.when == "call" and call.excinfo is not None:
            self._of_subtests.append(call.excinfo.value)
        report = outcome.get_result()
        here = probe("session.state_snapshot")
        if here is None or not here.is_lifted():
            return
        error = here.raised_by(call.excinfo.value) if call.excinfo is not None else None  # unittest's by now alone
        trace = here.failed_test(error) if error is not None else None
        if call.when == "call" and (report.passed or here.is_strict()) and (silent := here.silent_findings()):
            report.user_properties.append((SILENT, silent))
        if call.when == "call" and here.leaves_devices_out():
            report.user_properties.append((UNTOLD, True))
        if not report.failed:
            return
        kind, reason = here.judge_failure(trace, error) if trace is not None else _without_devices(error)
        at = _place(trace, self.world.root) if trace is not None and kind == "finding" else ""
        told = {"kind": kind, "reason": reason, "at": at, "served": here.served_location(error)}
        told["is_told"] = here.was_told_gpu(error)
        report.user_properties.append((PROPERTY, told))
        if (folder := self._folder) is not None and trace is not None:
            told["trace"] = _write_trace(folder, trace, item)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Count; the process that reports does it, for all workers."""
        properties = dict(report.user_properties)
        told = properties.get(PROPERTY)
        if hasattr(self._config, "workerinput"):
            return
        result = None
        if told is not None and report.failed:
            result = told["kind"]
            if told["at"]:
                self._places.setdefault(told["at"], report.nodeid)
        elif report.when == "call" or (report.when == "setup" and not report.passed):
            result = "passed" if _passes_unexpectedly(report) else report.outcome
        if result is not None:
            self._counts[result] += 1
            silent = properties.get(SILENT, [])
            self._counts[SILENT] += bool(silent)
            line = {"test": report.nodeid, "result": result, "seconds": report.duration, "silent": silent}
            line["untold"] = bool(properties.get(UNTOLD))
            if result != "passed":
                line["reason"] = last_line(report) if report.failed else _skipped_for(report)
            self._write({**line, **(told or {})})

    def pytest_collectreport(self, report: Any) -> None:
        """Report a module that could not be collected."""
        if report.failed and not hasattr(self._config, "workerinput"):
            self._write({"test": report.nodeid, "result": "collection", "reason": str(report.longrepr)[-4000:]})

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Report how many tests there are."""
        if not hasattr(self._config, "workerinput"):
            self._write({"collected": len(session.items), "root": str(self._config.rootpath)})

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: list[str]) -> None:
        """Report how many tests there are, in the process that starts xdist's workers: each of them collects all."""
        self._write({"collected": len(ids), "root": str(self._config.rootpath)})

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say what the lift found."""
        if not sum(self._counts.values()):
            return
        here = probe("session.state_snapshot")
        smoothed = here.smoothed_count() if here is not None else 0
        line = terminalreporter.write_line
        terminalreporter.section("lifted tests (devfix)")
        line(
            f"{self._counts['passed']} passed, {self._counts['finding']} ended in a finding, "
            f"{self._counts['artefact']} in an artefact of the lift, "
            f"{self._counts['other'] + self._counts['failed']} failed for another reason; "
            f"{smoothed} operators of test code moved their own tensors"
        )
        for at, test in self._places.items():
            line(f"  {at}   {test}")

    def _write(self, told: dict[str, Any]) -> None:
        if (folder := self._folder) is not None:
            with open(folder / "results.jsonl", "a", encoding="utf-8") as file:
                file.write(json.dumps(told) + "\n")


def _write_trace(folder: Path, trace: dict[str, Any], item: pytest.Item) -> str:
    """Write the trace of a test's failure into a folder, and return the name of the file."""
    trace["failure"]["test"] = item.nodeid
    name = f"{os.getpid()}-{time.monotonic_ns()}.json"
    (folder / name).write_text(json.dumps(trace, default=str), "utf-8", "backslashreplace")
    return name


def _without_devices(error: BaseException | None) -> tuple[str, str]:
    """Return what an error is that is no device failure: an artefact where the test expects the CPU."""
    is_about_place = isinstance(error, AssertionError) and _GPU.search(str(error)) is not None
    return "artefact" if is_about_place else "other", _first_line(error)


def _first_line(error: BaseException | None) -> str:
    return f"{type(error).__name__}: {error}".split("\n")[0][:300]


_OF_EXAMPLE = ": UnexpectedException"  # how pytest names an exception in a docstring example


def last_line(report: Any) -> str:
    """Return the last line of an error as pytest shows it; that of a docstring example is followed by its place.

    Of an assertion pytest shows first what was compared, then where its parts come from.
    """
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None and str(crash.message).startswith(("assert ", "AssertionError")):
        return str(crash.message).splitlines()[0][:300]
    lines = [line for line in str(report.longrepr).strip().splitlines() if not line.endswith(_OF_EXAMPLE)]
    errors = [line[1:].strip() for line in lines if line.startswith("E ")]
    return (errors or lines or [""])[-1][:300]


def _passes_unexpectedly(report: Any) -> bool:
    """Return whether a test passed that was to fail: one that its author knows to fail on a real GPU."""
    return report.failed and str(report.longrepr).startswith("[XPASS(strict)]")


def _skipped_for(report: Any) -> str:
    """Return the reason for which a test was skipped, as its author gives it."""
    told = report.longrepr  # the path, the line and the reason
    return str(told[2])[:300] if isinstance(told, tuple) and len(told) == 3 else ""


def _place(trace: dict[str, Any], root: Path) -> str:
    """Return where the code under test raised."""
    here = probe("lift.findings.blame")
    place = here.raising_place(trace["failure"])
    path = place["path"]
    return f"{os.path.relpath(path, root) if path.startswith(str(root) + os.sep) else path}:{place['line']}"
