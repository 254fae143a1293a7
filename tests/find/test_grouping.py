"""Findings of several tests that have one cause are one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from git_repositories import make_repository
from sample_search import RAISES, SILENT
from searches import find

from devfix.find.grouping import group_causes, is_same_tensor, join_by_remedy
from devfix.model import SourceLocation

HELPER, TAKES, OTHER = (SourceLocation("lib/a.py", line, owned=True) for line in (3, 11, 12))
ATTRIBUTE = replace(RAISES, place=TAKES, tests=("mul",), made=(("lib/a.py", 3), ("lib/a.py", 11)))


def test_what_is_computed_of_an_attribute_belongs_to_it() -> None:
    computed = replace(ATTRIBUTE, place=HELPER, tests=("computed",))
    elsewhere = replace(ATTRIBUTE, place=OTHER, tests=("other",), made=(("lib/a.py", 3), ("lib/a.py", 12)))
    of_other = replace(elsewhere, place=HELPER, tests=("of_other",))
    found = group_causes([computed, ATTRIBUTE, of_other, elsewhere])
    tests = {each.place: each.tests for each in found}
    assert tests == {TAKES: ("computed", "mul"), OTHER: ("of_other", "other")} and len(found) == 2
    assert is_same_tensor(computed, ATTRIBUTE) and not is_same_tensor(computed, replace(elsewhere, place=OTHER))


def test_the_first_that_a_rule_explains_stands_for_all() -> None:
    unexplained = replace(ATTRIBUTE, rule="", tests=("first",))
    (found,) = group_causes([unexplained, replace(ATTRIBUTE, rule="state/x"), replace(ATTRIBUTE, rule="placement/y")])
    assert (found.rule, found.tests) == ("state/x", ("mul", "first"))


def test_what_shows_with_one_gpu_leads() -> None:
    second = replace(ATTRIBUTE, tests=("second",), devices=("cuda:1",))
    first = replace(ATTRIBUTE, rule="", tests=("first",), devices=("cuda:0",))
    (found,) = group_causes([second, first])
    assert (found.tests, found.devices, found.rule) == (("first", "second"), ("cuda:0", "cuda:1"), "")


def test_a_line_that_fails_by_what_others_made_has_a_cause_for_each_rule() -> None:
    others = replace(ATTRIBUTE, made=())
    assert len(group_causes([others, replace(others, rule="boundary/numpy")])) == 2


def test_a_tensor_that_fails_in_one_test_is_silent_in_none() -> None:
    silent = replace(SILENT, place=TAKES)
    evidence: Any = SILENT.evidence
    kept = replace(SILENT, kind="not-moved", place=TAKES, evidence=replace(evidence, attribute="Net.table"))
    computed = replace(ATTRIBUTE, place=HELPER)
    assert group_causes([silent, ATTRIBUTE]) == [ATTRIBUTE] and group_causes([kept, computed]) == [computed]
    assert len(group_causes([silent, computed])) == 2, "another tensor, made in a line that calls the helper, too"
    (found,) = group_causes([silent, kept])
    assert found.kind == "not-moved"


def test_what_one_change_repairs_is_one_cause() -> None:
    remedy = (("lib/a.py", b"self.register_buffer('table', table)"),)
    one, other = (replace(ATTRIBUTE, place=at, remedy=remedy, made=((at.path, at.line),)) for at in (TAKES, OTHER))
    (found,) = group_causes([one, replace(other, tests=("other",))])
    assert (found.place, found.tests) == (TAKES, ("mul", "other"))
    assert len(group_causes([one, replace(other, remedy=())])) == 2
    silent = replace(SILENT, remedy=remedy)
    assert join_by_remedy([silent, one])[0].kind == "raises"


LIBRARY = """
import torch

def table(n):
    return torch.arange(float(n))

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = table(4)
        self.other = table(4)

    def multiplied(self, x):
        return x * self.table

    def computed(self, x):
        return torch.stack([x, self.table.exp()])

    def shifted(self, x):
        return x - (self.other + 1)

    def mixed(self, x):
        return self.other @ x
"""
TESTS = """
import pytest, torch
from library import Net

@pytest.mark.parametrize("name", ["computed", "multiplied", "shifted", "mixed"])
def test_it(name):
    getattr(Net(), name)(torch.ones(4))
"""


@pytest.mark.slow
def test_one_attribute_is_one_finding(tmp_path: Any) -> None:
    files = {"pytest.ini": "[pytest]\npythonpath = .\n", "library.py": LIBRARY, "tests/test_library.py": TESTS}
    told = find(make_repository(tmp_path / "project", files), "--gpus", "1")
    assert [(each["line"], len(each["tests"]), each["confirmed"]) for each in told["findings"]] == [
        (10, 2, True),
        (11, 2, True),
    ]


SUBCLASSES = """
import torch

class Permutation(torch.nn.Module):
    def __init__(self, order):
        super().__init__()
        self.order = order

    def forward(self, x):
        return torch.index_select(x, 0, self.order)

class Reversed(Permutation):
    def __init__(self, n):
        super().__init__(torch.arange(n - 1, -1, -1))

class Rolled(Permutation):
    def __init__(self, n):
        super().__init__(torch.arange(n).roll(1))
"""
OF_SUBCLASSES = """
import pytest, torch
from library import Reversed, Rolled

@pytest.mark.parametrize("kind", [Reversed, Rolled])
def test_it(kind):
    kind(4)(torch.ones(4))
"""


@pytest.mark.slow
def test_what_subclasses_make_for_their_base_is_one_finding(tmp_path: Any) -> None:
    files = {"pytest.ini": "[pytest]\npythonpath = .\n", "library.py": SUBCLASSES, "tests/test_it.py": OF_SUBCLASSES}
    (found,) = find(make_repository(tmp_path / "project", files), "--gpus", "1")["findings"]
    assert (found["rule"], len(found["tests"]), found["confirmed"]) == ("state/tensor-not-buffer", 2, True)


LATE = """
import torch

class Filters(torch.nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.register_buffer("filters", torch.stack([width * torch.ones(3) for width in widths]))

    def forward(self, x):
        return torch.stack([self.filters[0] * 2, x])

class Bands(torch.nn.Module):
    def __init__(self, count=0, widths=()):
        super().__init__()
        self.widths = widths or list(torch.linspace(0.1, 0.9, count))
        self.filters = None

    def forward(self, x):
        if self.filters is None:
            self.filters = Filters(self.widths)
        return self.filters(x)
"""
OF_LATE = """
import pytest, torch
from library import Bands

@pytest.mark.parametrize("given", [{"count": 2}, {"widths": [0.1, 0.9]}])
def test_it(given):
    Bands(**given)(torch.ones(3))
"""


@pytest.mark.slow
def test_what_is_computed_of_several_tensors_of_a_module_is_one_finding(tmp_path: Any) -> None:
    files = {"pytest.ini": "[pytest]\npythonpath = .\n", "library.py": LATE, "tests/test_it.py": OF_LATE}
    (found,) = find(make_repository(tmp_path / "project", files), "--gpus", "1")["findings"]
    assert (found["rule"], len(found["tests"])) == ("placement/module-created-on-demand", 2)
