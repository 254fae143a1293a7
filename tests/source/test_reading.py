"""Definitions by their name, and where a name is read, given a value, or but a word."""

from __future__ import annotations

import pytest
from mismatch_factory import main

from devfix.sdk import definition, reads_of
from devfix.source.queries.reading import assigned_values, enclosing, is_given, is_read

NESTED = """class Model:
    def forward(self):
        def inner():
            return 1
        return inner
    if True:
        def forward(self):
            def inner():
                return 2
"""


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("Model", 1),
        ("Model.forward", 7),
        ("Model.forward.<locals>.inner", 8),
        ("Model.forward.<locals>.<listcomp>", 7),
        ("Model.<dictcomp>", 1),
        ("inner", None),
        ("Model.inner", None),
        ("<module>", None),
    ],
)
def test_a_definition_by_the_name_that_python_gives_it(name: str, line: int | None) -> None:
    file = main(NESTED)
    found = definition(file, name)
    assert (file.line_of(found) if found is not None else None) == line


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("f", "f"),
        ("f.<locals>.<listcomp>", "f"),
        ("f.<locals>.<genexpr>.<setcomp>", "f"),
        ("f.<locals>.<lambda>.<locals>.<dictcomp>", "f.<locals>.<lambda>"),
        ("f.<locals>.<listcomp>.<lambda>", "f.<locals>.<listcomp>.<lambda>"),
        ("Net.<listcomp>", "Net"),
        ("<genexpr>", "<module>"),
        ("<listcomp>.<listcomp>", "<module>"),
        ("<module>", "<module>"),
    ],
)
def test_a_comprehension_goes_by_its_function(name: str, function: str) -> None:
    assert enclosing(name) == function


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("state = load(p)\nfirst = state\nuse(state)\ndef f(state):\n    use(state)\n", [2, 3]),
        ("def f(p):\n    state = load(p)\n    use(state)\nuse(state)\ndef g(state):\n    use(state)\n", [3]),
        ("state: dict = load(p)\nuse(state)\n", [2]),
        ("a = b = load(p)\nuse(b)\nuse(a)\n", [3, 2]),
        ("state = load(p)\nstate['step'] = 1\nuse(state=1)\ndel state\n", []),
        ("use(load(p))\n", [1]),
    ],
)
def test_where_a_result_is_read(code: str, lines: list[int]) -> None:
    file = main(code)
    assert [file.line_of(each) for each in reads_of(file, file.find(file.module, "load(p)")[0])] == lines


@pytest.mark.parametrize(
    ("code", "read", "given"),
    [
        ("f(mask)", True, False),
        ("mask", True, False),
        ("mask.sum()", True, False),
        ("mask[0] + 1", True, False),
        ("x[mask] = 1", True, False),
        ("mask.grad = None", True, False),
        ("f((x, mask), [y])", True, False),
        ("y = [x, *mask]", True, False),
        ("for y in x, mask: pass", True, False),
        ("f(mask=1)", False, False),
        ("x.mask", False, False),
        ("mask = 1", False, True),
        ("mask[0][1] = 1", False, True),
        ("mask += 1", False, True),
        ("mask: int = 1", False, True),
        ("x, (*mask, y) = 1", False, True),
        ("[x, mask] = 1", False, True),
        ("for x, mask in y: pass", False, True),
        ("[x for mask in y]", False, True),
        ("(mask := 1)", False, True),
        ("with x as mask: pass", False, True),
        ("del x, mask[0]", False, True),
        ("def f(mask): pass", False, True),
    ],
)
def test_where_a_name_is_read_and_where_it_is_given_a_value(code: str, read: bool, given: bool) -> None:
    file = main(f"{code}\n")
    (node,) = file.find(file.module, "mask")
    assert (is_read(file, node), is_given(file, node)) == (read, given)


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("self.a = 1", ["1"]),
        ("self.b, self.a = 1, f(2)", ["f(2)"]),
        ("[self.b, self.a] = (1, 2)", ["2"]),
        ("self.a = self.b = 1", ["1"]),
        ("self.b = (self.a, c) = 1, 2", ["1"]),
        ("self.b, self.a = f()", []),
        ("self.b, *self.a = 1, 2", []),
        ("self.a, self.b = *c, 2", []),
    ],
)
def test_what_is_assigned_also_beside_others(line: str, values: list[str]) -> None:
    file = main(f"{line}\n")
    assert [file.code(each) for each in assigned_values(file, "self.a")] == values
