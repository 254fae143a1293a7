"""Which rule proposes what is done at the next use of a tensor."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from mismatch_factory import meeting

from devfix.pipeline.searching.extend import Extension
from devfix.registry import collect

CODE = "def f(x, scale, mask):\n    return x * mask\n"


@pytest.mark.parametrize("rule", ["placement/sibling-not-moved", "placement/input-not-moved"])
def test_another_rule_proposes_where_the_first_has_nothing_to_say(rule: str) -> None:
    diagnosis, sources = meeting(CODE, "x * mask", "mask", function="f")
    extension: Any = Extension(SimpleNamespace(), SimpleNamespace(), collect().rules, ())  # type: ignore[arg-type]
    extension._sources = lambda candidate: sources
    ended = SimpleNamespace(verdict=SimpleNamespace(next_failure=diagnosis.failure), patch=SimpleNamespace(rule=rule))
    patches = list(extension._propose_next_use(ended))
    assert {each.rule for each in patches} == {rule}
    assert b"x * mask.to(x.device)" in patches[0].edits[0].after
