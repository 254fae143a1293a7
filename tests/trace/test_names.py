"""What functions are called in full, where Python 3.10 does not say it: as later ones do."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

import pytest

from devfix.probe.provenance.qualnames import names_in, qualname

PROGRAM = """
def main():
    def step(x):
        return [
            {
                each: 1
                for each in x
            }
            for x in (
                y
                for y in x
            )
        ]
    return (
        lambda:
            (lambda: 1)
    )
class Model:
    names = [
        {a for a in b}
        for b in ()
    ]
    @property
    def head(self):
        class Inner:
            def forward(self):
                print(
                    "\\d"
                )
"""


def below(code: CodeType) -> Iterator[CodeType]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from below(each)


@pytest.mark.filterwarnings("error")
def test_full_names_are_those_that_later_pythons_tell(tmp_path: Path) -> None:
    path = tmp_path / "main.py"
    path.write_text(PROGRAM)
    names = names_in(str(path))
    assert {
        "main.<locals>.step",
        "main.<locals>.<lambda>.<locals>.<lambda>",
        "Model.head",
        "Model.head.<locals>.Inner.forward",
    } <= set(names.values())
    if sys.version_info >= (3, 11):
        every = list(below(compile(PROGRAM.replace("\\d", "d"), str(path), "exec")))
        assert names == {(each.co_name, each.co_firstlineno): each.co_qualname for each in every}


def test_what_cannot_be_read_has_its_bare_name(tmp_path: Path) -> None:
    path = tmp_path / "main.py"
    path.write_text("def f(:\n")
    assert names_in(str(path)) == names_in(str(tmp_path / "gone.py")) == names_in("<string>") == {}


def test_a_function_s_own_name_comes_first() -> None:
    code = test_a_function_s_own_name_comes_first.__code__
    assert qualname(code) == "test_a_function_s_own_name_comes_first"
