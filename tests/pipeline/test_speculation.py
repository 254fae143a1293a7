"""Runs that begin ahead change nothing of what a repair concludes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from verdict_programs import PROGRAM, RIGHT, project, rejected, rules_that

import devfix
from devfix.execution import TracedRunner
from devfix.model import Repair, Report, Run
from devfix.pipeline.opening.session import Session
from devfix.pipeline.searching import attempt

pytestmark = pytest.mark.slow

TEST = "def test_nothing():\n    assert True\n"
HIDES = ("    return (first + bias).sum()", "    return first.sum()")
BREAKS = ("weight = torch.ones(3).to(device)", "weight = torch.ones(3).to('cuda')")
# The second failure is only reached behind the first one.
TWO = PROGRAM.replace("print(", "other = torch.ones(3)\nanswer = (answer * weight + other).sum()\nprint(")
# The rule sees the first run without `device`, which is in a function that has returned.
MADE = """import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.scale = torch.ones(4)

    def forward(self, x):
        return self.linear(x) * self.scale


torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
model = Model().to(device)
print(round(model(torch.ones(2, 4, device=device)).sum().item(), 4))
"""


class Repairs:
    """Repairs of equal programs, with the runs that each made."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder, self._monkeypatch = folder, monkeypatch
        self._number = 0

    def repair(self, program: str, changes: tuple[tuple[str, str], ...], is_speculative: bool) -> tuple[Report, int]:
        """Return the report, and how many runs began ahead."""
        self._number += 1
        folder = self._folder / str(self._number)
        rules = (rules_that(folder, changes),) if changes else ()
        settings = {"devfix.toml": 'select = ["acme"]\n'} if changes else {}
        root = project(folder, program, **{"tests/test_nothing.py": TEST, **settings})
        began: list[bool] = []
        original = TracedRunner.run

        def run(self: TracedRunner, *given: object, **named: object) -> Run:
            began.append(named.get("ahead") is not None)
            return original(self, *given, **named)

        with self._monkeypatch.context() as patch:
            patch.setattr(TracedRunner, "run", run)
            if not is_speculative:
                patch.setattr(Session, "expect", lambda session, requests: None)
                patch.setattr(attempt, "begin_regression_test", lambda session, failure, seconds, patch: None)
            report = devfix.repair(root, run="python main.py", world="simulated", rules=rules, others=0)
        return report, sum(began)


@pytest.mark.parametrize(
    ("program", "changes"),
    [
        (PROGRAM, (HIDES, BREAKS, RIGHT)),
        (PROGRAM, (HIDES, BREAKS)),
        (MADE, ()),
        (TWO, ()),
    ],
    ids=["the third is right", "none is right", "a buffer", "two failures"],
)
def test_a_repair_concludes_the_same_with_and_without(
    program: str, changes: tuple[tuple[str, str], ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repairs = Repairs(tmp_path, monkeypatch)
    ahead, some = repairs.repair(program, changes, is_speculative=True)
    plain, none = repairs.repair(program, changes, is_speculative=False)
    assert some and not none
    assert (ahead.outcome, ahead.diff, rejected(ahead)) == (plain.outcome, plain.diff, rejected(plain))
    assert [*map(_concluded, ahead.repairs)] == [*map(_concluded, plain.repairs)]
    assert tuple(ahead.notes) == tuple(plain.notes)


def _concluded(repair: Repair) -> tuple[object, ...]:
    """Return what a repair says, without what differs between two runs of a program: times and addresses."""
    fixes = [replace(fix.verdict, next_failure=None) for fix in (*filter(None, [repair.fix]), *repair.rejected)]
    failure = repair.failure
    return (failure.kind, failure.op, failure.at, fixes, repair.regression_test, repair.no_test_reason, repair.untried)
