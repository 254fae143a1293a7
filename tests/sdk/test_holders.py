"""Which classes of the program hold a tensor, and which of their assignments always run."""

from __future__ import annotations

from dataclasses import replace

import pytest
from mismatch_factory import main, meeting

from devfix.model import Event, ModuleOwner, NameRef, Operand, ScopeVariable, SourceLocation
from devfix.sdk import Sources, assignments, attribute_of, classes_called, classes_holding, dominating
from devfix.sdk.trace.holders import files_of, is_kept_copy

PROGRAM = """\
class Other:
    def __init__(self):
        self.mask = 1

class Graph(nets.Base, Logged):
    def forward(self, x):
        return x + mask

class Base:
    def __init__(self):
        self.mask = make()

class Plain:
    def __init__(self):
        self.edges = self.mask
"""


@pytest.mark.parametrize(
    ("attribute", "type_name", "expected"),
    [
        ("mask", "", ["Other", "Base"]),
        ("mask", "Other", ["Other", "Base"]),
        ("mask", "Base", ["Base", "Other"]),
        ("mask", "Graph", ["Base", "Other"]),
        ("edges", "", ["Plain"]),
        ("weight", "", []),
    ],
)
def test_the_class_that_holds_an_attribute_and_its_bases_come_first(
    attribute: str, type_name: str, expected: list[str]
) -> None:
    diagnosis, source = meeting(PROGRAM, "x + mask", function="Graph.forward")
    found = classes_holding(diagnosis.failure, source, attribute, type_name)
    assert [node.name.value for _, node in found] == expected


@pytest.mark.parametrize(
    ("names", "kind", "expected"),
    [
        (['state["w"]'], "Tensor", True),
        (['state["w"]'], "Parameter", False),
        (['state["w"]', "weight"], "Tensor", False),
        (["weights[0]"], "Tensor", False),
        ([], "Tensor", False),
    ],
)
def test_a_copy_that_a_dictionary_keeps(names: list[str], kind: str, expected: bool) -> None:
    scope = [ScopeVariable(each, "tensor", "cpu", kind) for each in names]
    diagnosis, _ = meeting("def f(x, mask):\n    return x + mask\n", "x + mask", scope=scope)
    operand = Operand("other", "cpu", names=tuple(NameRef(0, each) for each in names))
    assert is_kept_copy(diagnosis.failure, operand) is expected


def test_a_class_before_its_bases_wherever_they_stand() -> None:
    code = "class B(A): pass\nclass C(B):\n    def f(self, x):\n        self.mask = x + mask\n"
    other = "class A(C):\n    def g(self):\n        self.mask = 1\nclass D:\n    def g(self):\n        self.mask = 1\n"
    diagnosis, _ = meeting(
        code, "x + mask", history=[Event("factory", "", "cpu", (SourceLocation("a.py", 1, "g", owned=True),))]
    )
    source = Sources({"main.py": code.encode(), "a.py": other.encode()}.get)
    for asked, expected in (("C", ["C", "A", "D"]), ("B", ["A", "C", "D"]), ("D", ["D", "C", "A"])):
        found = classes_holding(diagnosis.failure, source, "mask", asked)
        assert [node.name.value for _, node in found] == expected


def test_files_that_cannot_be_read_are_left_out() -> None:
    diagnosis, source = meeting("def f(x, mask):\n    x + mask\n", "x + mask")
    (frame,) = diagnosis.failure.frames
    places = [replace(frame.place, path=path) for path in ("lost.py", "main.py")]
    failure = replace(diagnosis.failure, frames=tuple(replace(frame, place=each) for each in places))
    assert [each.path for each in files_of(failure, source)] == ["main.py"]


def test_classes_are_found_by_name() -> None:
    file = main("class A: pass\ndef f():\n    class A: pass\nclass B: pass\n")
    assert [file.line_of(each) for each in classes_called(file, "A")] == [1, 3]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("x = 1\nx = 2\n", ["x = 1"]),
        ("if a:\n    x = 1\nx = 2\n", ["x = 1", "x = 2"]),
        ("if a: x = 1\nx = 2\n", ["x = 1", "x = 2"]),
        ("if a: x = 1; x = 2\nelse: x = 3\n", ["x = 1", "x = 3"]),
        ("x = 1\nif a: x = 2\n", ["x = 1"]),
        ("x = 1; x = 2\nwhile a:\n    x = 3\n", ["x = 1"]),
    ],
)
def test_a_value_that_is_always_given_comes_before_the_next(code: str, expected: list[str]) -> None:
    file = main(code)
    assert [file.code(each).rstrip(";") for each in dominating(file, assignments(file, "x"))] == expected


@pytest.mark.parametrize(
    ("held", "attribute"), [("edges", "edges"), ("edges[0]", "edges"), ("edges[0][1]", "edges"), ("", "")]
)
def test_the_attribute_that_holds_an_operand(held: str, attribute: str) -> None:
    owner = ModuleOwner("self", 0, "Graph", held, "attribute")
    assert attribute_of(Operand("mask", "cpu", owner=owner if held else None)) == attribute
