"""What a function answers with, which of its class's methods runs, and where the class of an object stands."""

from __future__ import annotations

import libcst as cst
import pytest
from mismatch_factory import main

from devfix.model import Event, ScopeVariable, SourceLocation
from devfix.sdk import File, Sources, class_of, definition, methods_called, return_values
from devfix.sdk.trace.returns import Part


def answered(body: str, part: Part = None) -> list[str]:
    file = main(f"def f(x, out):\n{body}")
    function = definition(file, "f")
    assert isinstance(function, cst.FunctionDef)
    return [file.code(each) for each in return_values(file, function, part)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("    return x\n", ["x"]),
        ("    if x:\n        return x + 1\n    return f(x)\n", ["x + 1", "f(x)"]),
        ("    for each in x:\n        yield each\n    yield\n", ["each"]),
        ("    if x:\n        return None\n    if out:\n        return\n    return x\n", ["x"]),
        ("    def g():\n        return 1\n    return x.map(lambda y: (yield y))\n", ["x.map(lambda y: (yield y))"]),
        # What holds tensors is not moved as one.
        ("    if x:\n        return out, x\n    return x\n", []),
        ("    return [x]\n", []),
        ("    return {'x': x}\n", []),
        ("    pass\n", []),
    ],
)
def test_what_a_function_answers_with(body: str, expected: list[str]) -> None:
    assert answered(body) == expected


@pytest.mark.parametrize(
    ("body", "part", "expected"),
    [
        ("    return x, x + 1\n", 1, ["x + 1"]),
        ("    return [x, x + 1]\n", 1, ["x + 1"]),
        ("    return x, x + 1\n", 2, []),
        ("    return x, *out\n", 0, ["x"]),
        # Nobody can read which one that is.
        ("    return *out, x\n", 1, []),
        ("    return x, *out\n", 1, []),
        ("    both = x, x + 1\n    return both\n", 1, ["x + 1"]),
        ("    both: tuple\n    both = x, x + 1\n    return both\n", 0, ["x"]),
        ("    both = x, 1\n    both = x, 2\n    return both\n", 1, []),
        ("    return out\n", 1, []),
        ("    if x:\n        return x, 1\n    return out\n", 1, []),
        ("    return f(x=x)\n", 0, []),
        ("    return {'mask': x + 1, key: 2, **out}\n", "mask", ["x + 1"]),
        ("    return {'mask': x + 1, 'other': 2}\n", "other", ["2"]),
        ("    return {mask: x}\n", "mask", []),
        ("    answer = Answer(1, mask=x + 1)\n    return answer\n", "mask", ["x + 1"]),
        ("    return Answer(1, other=x)\n", "mask", []),
        ("    return x, 1\n", "mask", []),
        ("    return out\n", "mask", []),
    ],
)
def test_the_part_that_a_caller_goes_on_with(body: str, part: Part, expected: list[str]) -> None:
    assert answered(body, part) == expected


def test_a_name_is_what_its_own_function_gave_it() -> None:
    file = main("def g():\n    both = 1, 2\n    return both\ndef f(x):\n    both = x, 3\n    return both\n")
    function = definition(file, "f")
    assert isinstance(function, cst.FunctionDef)
    assert [file.code(each) for each in return_values(file, function, 1)] == ["3"]


NETS = """
def make():
    class Model:
        def forward(self):
            def forward(): pass
        class Head:
            def forward(self): pass
        if fast:
            def __call__(self): pass
        def encode(self): pass
        forward_all = encode
"""


@pytest.mark.parametrize(("called", "lines"), [("", [4, 9]), ("encode", [10]), ("forward", [4]), ("decode", [])])
def test_the_methods_that_run_where_an_object_is_called(called: str, lines: list[int]) -> None:
    file = main(NETS)
    holder = next(each for each in file.within(file.module) if isinstance(each, cst.ClassDef))
    assert [file.line_of(each) for each in methods_called(file, holder, called)] == lines


FILES = {
    "base.py": b"class Base:\n    def __init__(self): pass\n",
    "net.py": b"from base import Base\nclass Net(Base):\n    def __init__(self):\n        super().__init__()\n",
    "other.py": b"class Net: pass\n",
}
BASE, NET, OTHER = (SourceLocation(name, 3, "__init__", owned=True) for name in FILES)
FOREIGN = SourceLocation("/lib/torch/nn.py", 3)


@pytest.mark.parametrize(
    ("places", "path"),
    [
        ((NET,), "net.py"),
        # A module comes to be in the constructor of its base, which stands elsewhere.
        ((BASE, NET, OTHER), "net.py"),
        ((FOREIGN, NET), "net.py"),
        ((BASE,), ""),
        ((FOREIGN,), ""),
        ((SourceLocation("gone.py", 3, owned=True),), ""),
        ((), ""),
    ],
)
def test_the_class_of_an_object_stands_where_it_was_made(places: tuple[SourceLocation, ...], path: str) -> None:
    moved = Event("move", "to", "cuda:0", (OTHER,))
    binding = ScopeVariable("net", "module", "cuda:0", "Net", history=(Event("made", "made", "cpu", places), moved))
    found = class_of(binding, Sources(FILES.get))
    assert (found[0].path if found is not None else "") == path
    assert found is None or (isinstance(found[0], File) and found[1].name.value == "Net")


def test_without_a_history_the_class_of_an_object_is_not_known() -> None:
    assert class_of(ScopeVariable("net", "module", "cuda:0", "Net"), Sources(FILES.get)) is None
