"""Failures that agree in what rules look at are explained once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from devfix.find import explanations
from devfix.find.causes import Explanation
from devfix.model import Event, Failure, Frame, Operand, SourceLocation
from devfix.sdk import Sources

PLACE = SourceLocation("library.py", 3, "scaled", owned=True)
FAILURE = Failure(
    kind="device-mismatch",
    exception="RuntimeError",
    message="two devices",
    op="aten::mul",
    frames=(Frame(PLACE),),
    operands=(Operand("self", "cpu", shape=(2,), history=(Event("factory", "aten::ones", "cpu", (PLACE,)),)),),
)


def test_failures_of_one_place_are_explained_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Failure] = []

    def explain(failure: Failure, rules: object, sources: object) -> Explanation:
        seen.append(failure)
        return Explanation()

    monkeypatch.setattr(explanations, "explain_failure", explain)
    explained = explanations.Explanations([], Sources(lambda path: None))
    larger = replace(FAILURE, operands=(replace(FAILURE.operands[0], shape=(3,)),), test="tests/test_it.py::test_it[3]")
    elsewhere = replace(FAILURE, frames=(Frame(replace(PLACE, line=4)),))
    on_gpu = replace(FAILURE, operands=(replace(FAILURE.operands[0], device="cuda:0"),))
    for each in (FAILURE, larger, elsewhere, on_gpu, FAILURE):
        explained.explain(each)
    assert seen == [FAILURE, elsewhere, on_gpu]
