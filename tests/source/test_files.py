"""A file can be asked what stands at a place, and prints back byte for byte."""

import re

import libcst as cst
import pytest

from devfix.model import SourceLocation
from devfix.source import File, SourceError, Sources

PYTHON = """import torch

def forward(self, x):
    # positions
    idx = torch.arange(x.size(1))
    y = self.embed(x) + self.position(
        idx
    )
    y += idx
    return y, torch.zeros(3) + torch.zeros(3)
"""


def places(code: str) -> list[tuple[int, SourceLocation]]:
    """Every instruction's place, as the interpreter itself knows it."""
    import types

    found = []

    def walk(each: types.CodeType) -> None:
        for line, end_line, column, end_column in each.co_positions():
            if line is not None:
                found.append((line, SourceLocation("m.py", line, "", end_line, column, end_column, owned=True)))
        for constant in each.co_consts:
            if isinstance(constant, types.CodeType):
                walk(constant)

    walk(compile(code, "m.py", "exec"))
    return found


def test_finds_the_call_that_the_interpreter_means() -> None:
    file = File("m.py", PYTHON.encode())
    calls = {file.code(call) for _, place in places(PYTHON) if (call := file.call_at(place))}
    assert {"torch.arange(x.size(1))", "x.size(1)", "self.embed(x)", "torch.zeros(3)"} <= calls


def test_tells_two_equal_factories_on_one_line_apart() -> None:
    file = File("m.py", PYTHON.encode())
    found = {id(call) for _, place in places(PYTHON) if (call := file.call_at(place, ("zeros",))) is not None}
    assert len(found) == 2


def test_takes_an_augmented_assignment_as_its_statement() -> None:
    file = File("m.py", PYTHON.encode())
    roots = [file.root_at(place) for line, place in places(PYTHON) if line == 9]
    assert "y += idx" in {file.code(root) for root in roots if root is not None}


@pytest.mark.parametrize(
    "python", ["# é\nx = ('é', f(a))\n", "\ufeffx = f(a)\n", "if x:\r\n\ty = f(a)\r\n", "x = f(a)"]
)
def test_keeps_bytes_and_counts_columns_in_utf8(python: str) -> None:
    file = File("m.py", python.encode())
    plain = python.lstrip("\ufeff")
    found = [file.call_at(place) for _, place in places(plain)]
    assert "f(a)" in {file.code(call) for call in found if call}
    assert file.edit(file.module) is None


def test_knows_only_lines_on_old_interpreters() -> None:
    file = File("m.py", b"x = f(a)\ny = f(a) + g(b)\n")
    call = file.call_at(SourceLocation("m.py", 1))
    assert call is not None and file.code(call) == "f(a)"
    assert file.call_at(SourceLocation("m.py", 2)) is None
    assert file.call_at(SourceLocation("m.py", 2), ("g",)) is not None


@pytest.mark.parametrize("data", [b"x = (\n", b"x = '\xe9'\n", b"print 'python 2'\n"])
def test_refuses_what_does_not_parse(data: bytes) -> None:
    with pytest.raises(SourceError, match="not editable"):
        File("m.py", data)


def test_gives_no_file_for_foreign_and_excluded_places() -> None:
    sources = Sources({"a.py": b"x = 1\n", "b.py": b"x = (\n"}.get)
    assert sources.file(SourceLocation("a.py", 1, owned=True)) is not None
    assert sources.file(SourceLocation("a.py", 1)) is None
    assert sources.file(SourceLocation("c.py", 1, owned=True)) is None
    assert sources.file(SourceLocation("b.py", 1, owned=True)) is None
    assert "b.py" in next(iter(sources.notes))


LAID_OUT = """def f(x, y):
    @keep(x)
    def g(self):
        return ( x + y ).sum(
            # of both
            dim=(0,
                 1),
        )
    return f"{x + y:>{x}} {(x + y)!r}", "x + y", é + (x
        + y), [(x) for x in ((y))]
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("start", ["", "\ufeff", "# -*- coding: latin-1 -*-\n"])
def test_code_is_what_libcst_prints(start: str, end: str) -> None:
    data = (start + LAID_OUT).replace("\n", end).encode("latin-1" if "latin" in start else "utf-8")
    file = File("m.py", data)
    nodes = [*file.within(file.module)]
    assert {type(node).__name__ for node in nodes} >= {"Tuple", "FormattedStringExpression", "Decorator", "ListComp"}
    for node in nodes:
        assert file.code(node) == file.module.code_for_node(node).strip()


def test_find_gives_the_expressions_below_a_node_in_the_order_of_the_source() -> None:
    file = File("m.py", LAID_OUT.encode())
    for text in ("x + y", "x", "keep(x)", "(x)", "y", "f"):
        for root in file.within(file.module):
            below = [node for node in walked(root) if isinstance(node, cst.BaseExpression)]
            wanted = [node for node in below if re.sub(r"\s", "", file.code(node)) == re.sub(r"\s", "", text)]
            assert [*map(id, file.find(root, text))] == [*map(id, wanted)]
    assert len(file.find(file.module, "x + y")) == 1 and len(file.find(file.module, "(x + y)")) == 3


def walked(node: cst.CSTNode) -> list[cst.CSTNode]:
    return [node, *(below for child in node.children for below in walked(child))]


def test_find_looks_for_nothing_below_a_node_of_another_file() -> None:
    file, other = File("m.py", b"x + y\n"), File("n.py", b"x + y\n")
    assert file.find(other.module, "x") == []
    assert [*map(id, file.within(other.module))] == [*map(id, walked(other.module))]
