"""How an expression for a device reads."""

from __future__ import annotations

import libcst as cst
import pytest
from mismatch_factory import main

from devfix.source.queries.reading import definition
from devfix.source.queries.style import attribute_depth, is_ambiguous, is_undeclared_attribute, style_bonus


@pytest.mark.parametrize(
    ("text", "reach"),
    [("x", 0), ("self.head.weight", 2), ("parts[0]", 3), ("self.parts[0][1].weight", 8)],
)
def test_an_element_is_further_away_than_three_attributes(text: str, reach: float) -> None:
    assert attribute_depth(text) == reach


@pytest.mark.parametrize(
    ("text", "nothing"),
    [
        ("_.device", True),
        ("__", True),
        ("_.head.device", True),
        ("X.device", False),
        ("_x.device", False),
        ("parts[0].device", False),
        ("parts[-1].device", False),
        ("parts[1].device", True),
        ("parts[-2].device", True),
        ("parts[10].device", True),
        ("boxes[1].device", False),
        ("boxes[1].shape.device", False),
    ],
)
def test_a_name_to_throw_away_and_an_element_that_the_file_does_not_read_say_nothing(text: str, nothing: bool) -> None:
    assert is_ambiguous(main("y, _ = f(x)\nz = boxes[1] * y\n"), text) is nothing


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("x.to(self.device)", 1.5),
        ("zeros(3, device = self.device)", 1.5),
        ("x.to(self.device_map)", 0.0),
        ("x.to(myself.device)", 0.0),
        ("print(self.device)", 0.0),
    ],
)
def test_what_the_file_places_tensors_by_is_its_habit(code: str, expected: float) -> None:
    assert style_bonus(main(f"y = {code}\n"), "self.device") == expected


def test_a_variable_of_another_function_is_no_habit() -> None:
    file = main("def f(x, y):\n    return y.to(x.device)\n\n\ndef g(x, y):\n    return x, y\n")
    rated = [style_bonus(file, "x.device", definition(file, name)) for name in "fg"]
    assert rated == [1.5, 0.5]
    assert [style_bonus(file, "z.device", definition(file, name)) for name in "fg"] == [0.0, 0.0]


@pytest.mark.parametrize(
    ("text", "is_unknown"),
    [("self.head.weight", False), ("self.hea", True), ("self.header", True), ("head.weight", False)],
)
def test_an_attribute_that_the_file_never_reads_may_be_another_class_s_own(text: str, is_unknown: bool) -> None:
    assert is_undeclared_attribute(main("class A:\n    def f(self):\n        return self.head\n"), text) is is_unknown


@pytest.mark.parametrize(
    ("bases", "is_unknown"),
    [("", True), ("(abc.ABC)", True), ("(Generic[T])", True), ("(nn.Module)", False), ("(Attends)", False)],
)
def test_an_attribute_of_a_mixin_is_one_that_it_mentions_itself(bases: str, is_unknown: bool) -> None:
    code = "    def f(self):\n        return 1\n\nclass A(M):\n    def g(self):\n        self.head\n"
    file = main(f"class M{bases}:\n{code}")
    node = next(iter(file.within(file.module, cst.Integer)))
    assert is_undeclared_attribute(file, "self.head.weight.device", node) is is_unknown
    assert not is_undeclared_attribute(file, "self.head.weight.device")
