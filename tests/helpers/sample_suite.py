"""The report of a pytest session with two device failures, and a test of every other kind."""

from __future__ import annotations

from full_pages import DIFF, full_report

from devfix.report.failure_types import WorldRecord
from devfix.report.find_types import ReasonRecord
from devfix.report.suite_types import ProposedChangeRecord, SuiteFailureRecord, SuiteRecord, SuiteWorldRecord
from devfix.report.types import EditRecord

ONE, TWO = (WorldRecord(kind="simulated", gpus=count) for count in (1, 2))


def suite_record() -> SuiteRecord:
    """Return the report."""
    first, second = full_report().failures
    proposal = ProposedChangeRecord(
        rule="placement/input-not-moved",
        title="Move `x` to the model's device",
        reason="`x` was never moved",
        safety="safe",
        edits=(EditRecord(path="train.py", line=2, diff=DIFF),),
    )
    return SuiteRecord(
        root="/repo",
        world=ONE,
        lifted=True,
        seconds=2.5,
        worlds=(
            SuiteWorldRecord(world=ONE, passed=1, device_failures=2, other_failures=1, artefacts=1, skipped=0),
            SuiteWorldRecord(world=None, passed=1, device_failures=0, other_failures=0, artefacts=0, skipped=1),
            SuiteWorldRecord(world=TWO, passed=0, device_failures=1, other_failures=0, artefacts=0, skipped=0),
        ),
        failures=(
            SuiteFailureRecord(
                tests=("tests/test_a.py::test_it", "tests/test_a.py::test_other"),
                worlds=(ONE, TWO),
                devices=("cpu", "cuda:0"),
                failure=first,
                proposal=proposal,
                command="devfix repair --run 'pytest tests/test_a.py::test_it'",
            ),
            SuiteFailureRecord(
                tests=("tests/test_a.py::test_two",),
                worlds=(TWO,),
                devices=("cuda:0", "cuda:1"),
                failure=second,
                proposal=None,
                command="devfix repair --run 'pytest tests/test_a.py::test_two' --gpus 2",
            ),
        ),
        artefacts=(ReasonRecord(test="tests/test_a.py::test_numpy", reason="TypeError: can't convert cuda:0"),),
        other_failures=(ReasonRecord(test="tests/test_a.py::test_broken", reason="assert 1 == 2"),),
    )
